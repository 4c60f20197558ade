/* text_corruptions.c: the section of blocks with writes out of bounds. An annotated program finds
 * them at frees and reallocations, and by checks of all blocks.
 *
 *     Damaged blocks ── 1 block
 *
 *     A block of 100 bytes at 0x55d0c8e012a0 was written past its end
 *       from 0x55d0c8e01304 on: 41 41 41 41  AAAA
 *       found by free at 1.203 s, whole at 0.8 s
 *         drop_name  name.c:30
 *       it was allocated by
 *         make_name  name.c:12
 */
#include "text/text_view.h"

#include <inttypes.h>

static const char *
size_words(struct arena *a, uint64_t size_bytes)
{
    return size_bytes != 0 ? arena_printf(a, "of %s", style_plural(a, (int64_t)size_bytes, "byte"))
                           : "of unknown size";
}

/* Return a description of the most likely culprit and its error. */
static const char *
head_words(struct arena *a, const struct profile_corruption *d)
{
    bool by_front = d->kind == CORRUPTED_OVERWRITTEN && d->front_address != 0;

    return arena_printf(
        a, "  A block %s at 0x%" PRIx64 " %s",
        size_words(a, by_front ? d->front_size_bytes : d->size_bytes),
        by_front ? d->front_address : d->address,
        d->kind == CORRUPTED_PAST_END       ? "was written past its end"
        : d->kind == CORRUPTED_BEFORE_START ? "was written before its beginning"
        : by_front ? "was written past its end, over the annotation of the next one"
                   : "has lost its annotation, and no live block precedes it");
}

static const char *
written_words(struct arena *a, const struct profile_corruption *d)
{
    uint32_t count = d->written_bytes < 16 ? d->written_bytes : 16;
    char *text = arena_array(a, (size_t)count * 4 + 3, 1), *to = text;

    for (uint32_t i = 0; i < count; i++) {
        *to++ = "0123456789abcdef"[d->written[i] >> 4];
        *to++ = "0123456789abcdef"[d->written[i] & 15];
        *to++ = ' ';
    }
    *to++ = ' ';
    for (uint32_t i = 0; i < count; i++)
        *to++ = d->written[i] >= ' ' && d->written[i] < 0x7f ? (char)d->written[i] : '.';
    return text;
}

static void
text_corruptions_put_stack(struct text_view *v, uint32_t node, const char *words)
{
    struct stack stack = stack_of_node(v->base.p, node, v->base.arena);

    if (node == 0)
        return;
    text_line(v, ATTR_DIM, words);
    text_stack(v, &stack, v->depth, 0);
}

static void
text_corruptions_put_corruption(struct text_view *v, const struct profile_corruption *d)
{
    static const char *const finders[] = {[CORRUPTION_BY_FREE] = "its free",
                                          [CORRUPTION_BY_REALLOC] = "its reallocation",
                                          [CORRUPTION_BY_CHECK] = "a check of all blocks"};
    bool by_front = d->kind == CORRUPTED_OVERWRITTEN && d->front_address != 0;
    struct arena *a = v->base.arena;
    const char *found;

    strbuf_char(v->out, '\n');
    text_line(v, ATTR_WARNING, head_words(a, d));
    text_line(v, ATTR_PLAIN,
              arena_printf(a, "    from 0x%" PRIx64 " on: %s", d->at, written_words(a, d)));
    found = arena_printf(a, "    found by %s%s after %s; it was whole at %s",
                         by_front ? "the next one: " : "", finders[d->found],
                         style_duration(a, d->found_ns), style_duration(a, d->whole_ns));
    if (d->node != 0)
        text_corruptions_put_stack(v, d->node, found);
    else
        text_line(v, ATTR_DIM, found);
    text_corruptions_put_stack(v, by_front ? d->front_node : d->site_node,
                               "    it was allocated by");
    if (by_front)
        text_corruptions_put_stack(
            v, d->site_node,
            arena_printf(a, "    the next one is at 0x%" PRIx64 ", allocated by", d->address));
    else if (d->front_address != 0)
        text_corruptions_put_stack(
            v, d->front_node,
            arena_printf(a, "    in front of it: a block %s at 0x%" PRIx64 ", allocated by",
                         size_words(a, d->front_size_bytes), d->front_address));
}

void
text_corruptions(struct text_view *v)
{
    const struct profile *p = v->base.p;
    size_t limit = v->base.limit ? v->base.limit : TEXT_OVERVIEW_LIMIT, shown = 0;
    struct arena *a = v->base.arena;

    if (p->corruption_count == 0)
        return;
    text_title(v, "Damaged blocks",
               style_plural(a, (int64_t)p->losses.damaged_blocks, "block"));
    for (; shown < p->corruption_count && shown < limit; shown++)
        text_corruptions_put_corruption(v, &p->corruptions[shown]);
    text_more(v, shown, p->corruption_count, "damaged block");
}

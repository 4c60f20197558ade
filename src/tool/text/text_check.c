/* text_check.c: corrupted blocks, each with the most likely culprit first.
 *
 *     Damaged blocks ── 1 of 1,234 looked at
 *
 *     A block of 100 bytes at 0x55d0c8e012a0 was written past its end, by 8 bytes at least
 *       from 0x55d0c8e01304 on: 41 41 41 41 41 41 41 41  AAAAAAAA
 *       it was allocated by
 *         make_name  name.c:12
 *       behind it: a block of 50 bytes at 0x55d0c8e013c0, allocated by
 *         make_node  node.c:30
 */
#include "text/text_view.h"

#include <inttypes.h>

#include "view/phrases.h"

enum { WRITTEN_SHOWN = 16 };

static const char *
corruption_words(struct arena *a, const struct check_corruption *d)
{
    const char *bytes = style_plural(a, (int64_t)d->known_bytes, "byte");

    switch (d->kind) {
    case CHECK_PAST_END:
        return arena_printf(a, "was written past its end, by %s at least", bytes);
    case CHECK_BEFORE_START:
        return "was written before its beginning";
    case CHECK_OVERWRITTEN:
        break;
    }
    return d->neighbour.address != 0
               ? "has most likely been written past its end: the beginning of the next one is lost"
               : "has lost the bytes in front of it, and no block precedes it";
}

/* Return bytes in hexadecimal and as characters: "41 00 42  A.B". */
static const char *
bytes_words(struct arena *a, const struct check_corruption *d)
{
    uint32_t count = d->written_count < WRITTEN_SHOWN ? d->written_count : WRITTEN_SHOWN;
    char *text = arena_array(a, count * 3 + 2 + count + 1, 1), *to = text;

    for (uint32_t i = 0; i < count; i++) {
        *to++ = "0123456789abcdef"[d->written[i] >> 4];
        *to++ = "0123456789abcdef"[d->written[i] & 15];
        *to++ = ' ';
    }
    *to++ = ' ';
    for (uint32_t i = 0; i < count; i++)
        *to++ = d->written[i] >= ' ' && d->written[i] < 0x7f ? (char)d->written[i] : '.';
    *to = '\0';
    return text;
}

static void
text_check_put_stack(struct text_view *v, const struct memory_view *m, const struct block *b,
                     const char *words)
{
    struct stack stack;

    if (!memory_view_stack(&v->base, m->e, b->site, &stack))
        return;
    text_line(v, ATTR_DIM, words);
    text_stack(v, &stack, v->depth, 0);
}

static void
text_check_put_corruption(struct text_view *v, const struct memory_view *m,
                          const struct check_corruption *d)
{
    const struct block *culprit = check_culprit(d);
    const struct block *other = culprit == &d->block ? &d->neighbour : &d->block;
    struct arena *a = v->base.arena;

    strbuf_char(v->out, '\n');
    text_line(v, ATTR_WARNING,
              arena_printf(a, "  %s at 0x%" PRIx64 " %s",
                           culprit == &d->neighbour && d->neighbour_freed
                               ? "A freed block"
                               : arena_printf(a, "A block %s", memory_block_size(a, culprit)),
                           culprit->address, corruption_words(a, d)));
    text_line(v, ATTR_PLAIN,
              arena_printf(a, "    from 0x%" PRIx64 " on: %s", d->at, bytes_words(a, d)));
    text_check_put_stack(v, m, culprit, "    it was allocated by");
    if (other->address != 0)
        text_check_put_stack(
            v, m, other,
            arena_printf(a, "    %s it: a block %s at 0x%" PRIx64 ", allocated by",
                         other->address > culprit->address ? "behind" : "in front of",
                         memory_block_size(a, other), other->address));
}

void
text_check(struct text_view *v, const struct memory_view *m)
{
    const struct checked *c = &m->answer->checked;
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT, shown = 0;
    struct arena *a = v->base.arena;

    if (!c->possible) {
        strbuf_char(v->out, '\n');
        text_prose(v, ATTR_WARNING,
                   "  The memory between blocks of this allocator cannot be checked: record with "
                   "--annotate");
        return;
    }
    text_title(v, "Damaged blocks",
               arena_printf(a, "%s of %s looked at", style_count(a, (int64_t)c->count),
                            style_count(a, (int64_t)c->looked)));
    if (!c->annotated)
        text_prose(v, ATTR_DIM,
                   "  by the allocator's own words between blocks: with --annotate each block is "
                   "known by itself");
    if (c->unknown > 0)
        text_prose(v, ATTR_WARNING,
                   arena_printf(a, "  %s could not be looked at: their memory is not there",
                                style_plural(a, (int64_t)c->unknown, "block")));
    for (; shown < c->count && shown < limit; shown++)
        text_check_put_corruption(v, m, &c->v[shown]);
    text_more(v, shown, c->count, "damaged block");
}

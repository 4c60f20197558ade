/* text_rawdump.c: blocks found in copies of memory: stacks first, then corruptions.
 *
 *     firmware.elf in ram.bin
 *     64.0 KiB of memory · little-endian words of 4 bytes
 *
 *       Blocks        137    16.1 KiB
 *       Refused         3  2 are copies, 1 is damaged
 *
 *     #1     8.0 KiB    49.6 %   8 blocks
 *          [1023 x4, 1025 x4]
 *          make_sample        firmware.c:28
 */
#include "text/text.h"

#include <inttypes.h>

#include "analyse/group.h"
#include "text/text_view.h"

enum { SIZES_SHOWN = 8, CORRUPTIONS_SHOWN = 10, CORRUPTION_DEPTH = 8 };

static void
text_rawdump_put_row(struct text_view *v, enum attr attr, const char *label, uint64_t count,
                     const char *more)
{
    struct arena *a = v->base.arena;

    text_line(v, attr, arena_printf(a, "  %-12s %10s  %s", label, style_count(a, (int64_t)count),
                                    more));
}

static void
text_rawdump_put_head(struct text_view *v, const struct annotated_memory *m)
{
    const char *refused = annotated_refused_words(m, v->base.arena);
    struct arena *a = v->base.arena;
    uint64_t total = 0;

    for (size_t i = 0; i < REFUSALS; i++)
        total += m->refused[i];
    text_line(v, ATTR_BOLD, profile_title(v->base.p, a));
    text_line(v, ATTR_DIM,
              arena_printf(a, "%s of memory \xc2\xb7 %s",
                           style_bytes(a, (int64_t)(m->read_bytes + m->hole_bytes)),
                           annotated_kind_words(m->kind)));
    if (v->base.filter)
        text_line(v, ATTR_WARNING, arena_printf(a, "Only stacks that match %s", v->base.filter));
    strbuf_char(v->out, '\n');
    text_rawdump_put_row(v, ATTR_PLAIN, "Blocks", m->count, style_bytes(a, (int64_t)m->bytes));
    if (refused != NULL)
        text_rawdump_put_row(v, ATTR_DIM, "Refused", total, refused);
    if (m->cut_off > 0)
        text_rawdump_put_row(v, ATTR_WARNING, "Cut off", m->cut_off,
                             "reach beyond the end of the memory, which is incomplete");
    if (m->corruption_count > 0)
        text_rawdump_put_row(v, ATTR_WARNING, "Damaged", m->corruption_count, "see the end");
}

static void
text_rawdump_put_blocks(struct text_view *v)
{
    const struct stack **top = group_sorted_stacks(v->base.stacks, METRIC_INUSE, v->base.arena);
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT, count = v->base.stacks->count;

    for (size_t i = 0; i < count && i < limit; i++)
        text_site(v, top[i], METRIC_INUSE);
    if (count > limit)
        strbuf_char(v->out, '\n');
    text_more(v, limit < count ? limit : count, count, "site");
}

static const char *
corruption_sentence(struct text_view *v, const struct annotated_memory *m,
                    const struct annotated_corruption *d)
{
    struct arena *a = v->base.arena;
    const struct annotated_block *b = &d->block;
    const char *block = arena_printf(a, "the block of %s at %s",
                                     style_plural(a, (int64_t)b->size, "byte"),
                                     annotated_address_words(m, b, a));

    switch (d->kind) {
    case CORRUPTION_PAST_END:
        return arena_printf(a, "Past the end of %s, from byte %" PRIu64 " on", block,
                            b->size + b->guard_changed);
    case CORRUPTION_BEFORE_START:
        return arena_printf(a, "Before the start of %s", block);
    case CORRUPTION_OVERWRITTEN:
        break;
    }
    if (b->head_bytes == 0)
        return arena_printf(a, "The annotation of the block at %s has lost its beginning",
                            annotated_address_words(m, b, a));
    return arena_printf(a, "The annotation of %s is overwritten", block);
}

static void
put_stack_of(struct text_view *v, const struct annotated_view *found, uint32_t stack)
{
    struct stack s =
        stack_of_node(v->base.p, found->places->node_of[stack], v->base.arena);

    text_stack(v, &s, CORRUPTION_DEPTH, 0);
}

static void
text_rawdump_put_corruption(struct text_view *v, const struct annotated_view *found)
{
    const struct annotated_memory *m = found->memory;
    struct arena *a = v->base.arena;

    if (m->corruption_count == 0)
        return;
    text_title(v, "Damage",
               arena_printf(a, "%s", style_plural(a, (int64_t)m->corruption_count, "place")));
    for (size_t i = 0; i < m->corruption_count && i < CORRUPTIONS_SHOWN; i++) {
        const struct annotated_corruption *d = &m->corruptions[i];

        strbuf_char(v->out, '\n');
        text_prose(v, ATTR_WARNING,
                   arena_printf(a, "  %s%s", corruption_sentence(v, m, d),
                                d->block.head_bytes != 0 ? ", allocated by" : ""));
        if (d->block.head_bytes != 0)
            put_stack_of(v, found, d->block.stack);
        if (d->kind != CORRUPTION_OVERWRITTEN || d->front == 0)
            continue;
        text_prose(v, ATTR_WARNING,
                   arena_printf(a,
                                "  most likely from the block in front, of %s at %s, allocated by",
                                style_plural(a, (int64_t)m->v[d->front - 1].size, "byte"),
                                annotated_address_words(m, &m->v[d->front - 1], a)));
        put_stack_of(v, found, m->v[d->front - 1].stack);
    }
    text_more(v, m->corruption_count < CORRUPTIONS_SHOWN ? m->corruption_count : CORRUPTIONS_SHOWN,
              m->corruption_count, "place");
}

void
text_rawdump(struct text_view *v, const struct annotated_view *found)
{
    text_rawdump_put_head(v, found->memory);
    text_rawdump_put_blocks(v);
    text_rawdump_put_corruption(v, found);
}

const char *
text_rawdump_sizes(const void *found, const struct view *v, const struct stack *s)
{
    const struct annotated_view *all = found;
    const struct annotated_sizes *list = &all->sizes[s - v->stacks->v];
    struct strbuf out = {0};
    const char *text;

    strbuf_char(&out, '[');
    for (size_t i = 0; i < list->count && i < SIZES_SHOWN; i++) {
        strbuf_fmt(&out, "%s%" PRIu64, i ? ", " : "", list->v[i].size);
        if (list->v[i].count > 1)
            strbuf_fmt(&out, " x%" PRIu64, list->v[i].count);
    }
    if (list->count > SIZES_SHOWN)
        strbuf_fmt(&out, ", and %s",
                   style_plural(v->arena, (int64_t)(list->count - SIZES_SHOWN), "more size"));
    strbuf_char(&out, ']');
    if (list->has_birth && list->birth_first != list->birth_last)
        strbuf_fmt(&out, "  at times %" PRIu64 " to %" PRIu64, list->birth_first,
                   list->birth_last);
    else if (list->has_birth)
        strbuf_fmt(&out, "  at time %" PRIu64, list->birth_first);
    text = arena_strdup(v->arena, strbuf_text(&out));
    strbuf_release(&out);
    return text;
}

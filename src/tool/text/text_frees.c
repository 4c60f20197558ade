/* text_frees.c: the section of frees without a live block.
 *
 * Freeing a block that is not live is usually a bug that may soon crash the program. Therefore this
 * section precedes those about bytes. It is correct for a forked process to free its parent's
 * blocks; these frees come last, only as a count. */
#include "text/text_view.h"

#include <inttypes.h>

static const char *
kind_text(const struct text_view *v, const struct profile_unknown_free *f)
{
    if (f->kind == FREE_TWICE)
        return arena_printf(v->base.arena, "freed twice, last 0x%" PRIx64, f->address);
    return arena_printf(v->base.arena,
                        "of a pointer that is not malloc's or older, last 0x%" PRIx64, f->address);
}

static void
put_free(struct text_view *v, const struct profile_unknown_free *f)
{
    struct stack stack = stack_of_node(v->base.p, f->node, v->base.arena);

    strbuf_char(v->out, '\n');
    text_line(v, ATTR_WARNING,
              arena_printf(v->base.arena, "    %12s   %s",
                           style_plural(v->base.arena, (int64_t)f->count, "free"),
                           kind_text(v, f)));
    text_stack(v, &stack, v->depth, 0);
    if (f->site_node != 0) {
        struct stack site = stack_of_node(v->base.p, f->site_node, v->base.arena);

        text_line(v, ATTR_DIM, "      the block had been allocated by");
        text_stack(v, &site, v->depth, 0);
    }
}

void
text_unknown_frees(struct text_view *v)
{
    size_t limit = v->base.limit ? v->base.limit : TEXT_OVERVIEW_LIMIT, shown = 0, count = 0;

    for (size_t i = 0; i < v->base.p->unknown_free_count; i++)
        count += v->base.p->unknown_frees[i].kind != FREE_INHERITED;
    if (count == 0)
        return;
    text_title(v, "Frees without a live block",
               style_plural(v->base.arena, (int64_t)v->base.p->losses.unknown_frees, "free"));
    for (size_t i = 0; i < v->base.p->unknown_free_count && shown < limit; i++)
        if (v->base.p->unknown_frees[i].kind != FREE_INHERITED) {
            put_free(v, &v->base.p->unknown_frees[i]);
            shown++;
        }
    if (shown < count) {
        strbuf_char(v->out, '\n');
        text_line(
            v, ATTR_DIM,
            arena_printf(v->base.arena, "    \xe2\x80\xa6 %s; --limit shows more",
                         style_plural(v->base.arena, (int64_t)(count - shown), "more stack")));
    }
}

/* text_memory.c: single blocks: the largest; the block at an address, with its neighbours and the
 * pointers to it; lost blocks.
 *
 *     40 B in 1 block: nothing points to it
 *     160 B in 4 blocks: only such blocks lead to them
 *     1.2 MiB in 1,503 blocks can be reached
 *
 *     #7          200 B   5 blocks, the first at 0x55d0…
 *           add_node  list.c:12
 */
#include "text/text.h"

#include <inttypes.h>

#include "text/text_view.h"
#include "view/phrases.h"

static size_t
limit_of(const struct text_view *v)
{
    return v->base.limit ? v->base.limit : TEXT_LIMIT;
}

static const char *
text_memory_function_of(struct text_view *v, const struct memory_view *m, const struct block *b)
{
    struct stack stack;

    return memory_view_stack(&v->base, m->e, b->site, &stack)
               ? memory_view_function(&v->base, &stack)
               : "an unknown stack";
}

static void
put_largest(struct text_view *v, const struct memory_view *m)
{
    struct arena *a = v->base.arena;
    size_t shown = 0;

    text_title(v, "The largest blocks", style_plural(a, (int64_t)m->block_count, "block"));
    strbuf_char(v->out, '\n');
    for (; shown < m->block_count && shown < limit_of(v); shown++) {
        const struct block *b = m->blocks[shown];

        text_line(v, ATTR_PLAIN,
                  arena_printf(a, "  0x%012" PRIx64 " %14s  %s", b->address,
                               b->flags & (BLOCK_UNSIZED | BLOCK_CORRUPTED)
                                   ? "?"
                                   : style_count(a, (int64_t)b->size_bytes),
                               text_memory_function_of(v, m, b)));
    }
    text_more(v, shown, m->block_count, "block");
}

/* Write a line about B, a neighbour of the requested block. */
static void
put_neighbour(struct text_view *v, const struct memory_view *m, const char *where,
              const struct block *b, uint64_t gap_bytes)
{
    struct arena *a = v->base.arena;

    text_line(v, ATTR_PLAIN,
              arena_printf(a, "  %s: 0x%" PRIx64 ", %s, %s between; allocated by %s", where,
                           b->address, memory_block_size(a, b),
                           style_plural(a, (int64_t)gap_bytes, "byte"),
                           text_memory_function_of(v, m, b)));
}

/* Write the time and thread of the block's allocation, or the option that records them. */
static void
text_memory_put_birth(struct text_view *v, const struct memory_view *m)
{
    const struct birth *birth = &m->answer->birth;
    struct arena *a = v->base.arena;
    const char *thread = memory_birth_thread(a, birth);
    const char *time = memory_birth_time(a, m->e, birth);

    if (thread != NULL)
        text_line(v, ATTR_PLAIN, arena_printf(a, "  allocated: %s", thread));
    if (time != NULL)
        text_line(v, ATTR_PLAIN, arena_printf(a, "  allocated: %s", time));
    if (birth->annotated)
        return;
    if (thread == NULL || time == NULL)
        text_prose(v, ATTR_DIM,
                   arena_printf(a,
                                "  %s is not known; `heaptap run --annotate` stores it in each "
                                "block",
                                thread == NULL && time == NULL ? "the time and the thread"
                                : time == NULL                 ? "when"
                                                               : "by which thread"));
}

/* Write the live blocks on both sides of the freed block at ADDRESS. */
static void
put_around_freed(struct text_view *v, const struct memory_view *m, uint64_t address,
                 const struct block *before, const struct block *behind)
{
    strbuf_char(v->out, '\n');
    if (before != NULL)
        put_neighbour(v, m, "the live block before it", before,
                      address - before->address - before->size_bytes);
    if (behind != NULL)
        put_neighbour(v, m, "the live block behind it", behind, behind->address - address);
}

static void
text_memory_put_address(struct text_view *v, const struct memory_view *m)
{
    const struct place *place = &m->answer->place;
    const struct block *b = place->block, *before, *behind;
    struct arena *a = v->base.arena;

    memory_view_neighbours(m->e, place, &before, &behind);
    strbuf_char(v->out, '\n');
    text_core_place(v, m->e, m->answer->address);
    if (place->kind == PLACE_ENDED)
        put_around_freed(v, m, place->ended.address, before, behind);
    if (b == NULL || place->kind == PLACE_ENDED)
        return;
    strbuf_char(v->out, '\n');
    text_line(v, ATTR_PLAIN,
              arena_printf(a, "  the block: 0x%" PRIx64 " to 0x%" PRIx64 ", %s%s", b->address,
                           b->address + b->size_bytes, memory_block_size(a, b),
                           b->flags & BLOCK_HOOKED ? ", not of malloc" : ""));
    text_memory_put_birth(v, m);
    if (before != NULL)
        put_neighbour(v, m, "before it", before,
                      b->address - before->address - before->size_bytes);
    if (behind != NULL)
        put_neighbour(v, m, "behind it", behind, behind->address - b->address - b->size_bytes);
}

/* Return true if memory that may have pointers is missing from the dump. */
static bool
lacks_memory(const struct memory_view *m)
{
    return m->e->memory.missing_bytes > 0 || m->e->excluded_bytes > 0;
}

static void
text_memory_put_pointers(struct text_view *v, const struct memory_view *m)
{
    const struct pointers *all = &m->answer->pointers;
    struct arena *a = v->base.arena;
    size_t shown = 0;

    strbuf_char(v->out, '\n');
    text_core_place(v, m->e, m->answer->address);
    strbuf_char(v->out, '\n');
    if (all->found == 0)
        text_prose(v, ATTR_PLAIN,
                   lacks_memory(m) ? "  Nothing in the rest of the dump points to it."
                                   : "  Nothing points to it.");
    else
        text_line(v, ATTR_PLAIN,
                  arena_printf(a, "  %s to it:",
                               all->found == 1
                                   ? "1 word points"
                                   : arena_printf(a, "%s words point",
                                                  style_count(a, (int64_t)all->found))));
    for (; shown < all->count && shown < limit_of(v); shown++) {
        const struct pointer *p = &all->v[shown];
        const char *at = !p->in_block && p->kind == SCAN_REGISTER
                             ? ""
                             : arena_printf(a, "0x%" PRIx64, p->at);

        text_line(v, ATTR_PLAIN,
                  arena_printf(a, "    %-14s  %s", at, memory_view_holder(&v->base, m->e, p)));
    }
    text_more(v, shown, all->count, "pointer");
}

static void
text_memory_put_sum(struct text_view *v, const struct memory_view *m, enum reach how,
                    enum attr attr, const char *words)
{
    const struct block_sum *sum = &m->reached[how];
    struct arena *a = v->base.arena;

    if (sum->blocks > 0 || how == REACH_NONE)
        text_line(v, attr,
                  arena_printf(a, "  %12s in %s %s", style_bytes(a, (int64_t)sum->bytes),
                               style_plural(a, (int64_t)sum->blocks, "block"), words));
}

static void
put_lost(struct text_view *v, const struct lost *l)
{
    struct arena *a = v->base.arena;
    const char *note = arena_printf(a, "the first at 0x%" PRIx64, l->first);

    strbuf_char(v->out, '\n');
    if (l->grown.blocks > 0)
        note = arena_printf(a, "%s; %s more since the first reading, in %s", note,
                            style_bytes(a, (int64_t)l->grown.bytes),
                            style_plural(a, l->growths, "step"));
    text_line(v, ATTR_PLAIN,
              arena_printf(a, "#%-3" PRIu32 " %12s   %s that nothing points to%s",
                           l->stack->number,
                           style_bytes(a, (int64_t)(l->none.bytes + l->through.bytes)),
                           style_plural(a, (int64_t)l->none.blocks, "block"),
                           l->through.blocks > 0
                               ? arena_printf(a, ", %s more lost with others",
                                              style_count(a, (int64_t)l->through.blocks))
                               : ""));
    text_stack(v, l->stack, v->depth, 0);
    text_note(v, note);
}

/* Write what several readings have shown about M's unreachable blocks. */
static void
put_history(struct text_view *v, const struct memory_view *m)
{
    const struct lost_history *history = &m->answer->history;
    struct arena *a = v->base.arena;

    if (history->readings == 0)
        return;
    if (m->fresh.blocks > 0)
        text_line(v, ATTR_DIM,
                  arena_printf(a, "  %12s in %s only in the last of %" PRIu32 " readings",
                               style_bytes(a, (int64_t)m->fresh.bytes),
                               style_plural(a, (int64_t)m->fresh.blocks, "block"),
                               history->readings));
    if (history->recovered > 0)
        text_prose(v, ATTR_DIM,
                   arena_printf(a,
                                "  %s seemed lost in an earlier reading, and were freed or reached "
                                "later: their pointers are hidden",
                                style_plural(a, (int64_t)history->recovered, "block")));
}

static void
text_memory_put_leaks(struct text_view *v, const struct memory_view *m)
{
    size_t shown = 0;

    text_memory_put_sum(v, m, REACH_NONE, ATTR_WARNING,
                        lacks_memory(m)
                            ? "perhaps lost: nothing in the rest of the dump points there"
                            : "lost: nothing points there");
    text_memory_put_sum(v, m, REACH_THROUGH, ATTR_WARNING, "lost with these: only they lead there");
    text_memory_put_sum(v, m, REACH_MAPPED, ATTR_PLAIN,
                        "kept only by memory that the program mapped without malloc");
    text_memory_put_sum(v, m, REACH_STACK, ATTR_PLAIN,
                        "kept only by words on stacks or in registers");
    text_memory_put_sum(v, m, REACH_YES, ATTR_PLAIN, "can be reached");
    if (m->others.blocks > 0 && v->base.filter == NULL &&
        v->base.tags.heap == NULL && v->base.tags.label == NULL)
        text_line(v, ATTR_DIM,
                  arena_printf(v->base.arena, "  %12s in %s in which the program's heaps are",
                               style_bytes(v->base.arena, (int64_t)m->others.bytes),
                               style_plural(v->base.arena, (int64_t)m->others.blocks, "chunk")));
    put_history(v, m);
    for (; shown < m->lost_count && shown < limit_of(v); shown++)
        put_lost(v, &m->lost[shown]);
    if (shown < m->lost_count)
        strbuf_char(v->out, '\n');
    text_more(v, shown, m->lost_count, "stack");
    if (m->suppressions != NULL)
        text_suppressions(v, (int64_t)m->suppressed.blocks, (int64_t)m->suppressed.bytes,
                          m->suppressions);
}

void
text_memory(struct text_view *v, const struct memory_view *m)
{
    text_core_head(v, m->e);
    switch (m->answer->question) {
    case MEMORY_ALL:
        text_core_stacks(v, &m->stacks);
        break;
    case MEMORY_LARGEST:
        put_largest(v, m);
        break;
    case MEMORY_ADDRESS:
        text_memory_put_address(v, m);
        break;
    case MEMORY_POINTERS:
        text_memory_put_pointers(v, m);
        break;
    case MEMORY_LEAKS:
        text_memory_put_leaks(v, m);
        break;
    case MEMORY_CHECK:
        text_check(v, m);
        break;
    case MEMORY_RESIDENT:
        text_resident(v, m);
        break;
    case MEMORY_RETAIN:
        text_retain(v, m);
        break;
    }
}

/* reach.c: conservative search for reachable blocks.
 *
 * Every word that could point into a block, its middle included, counts as a pointer. So a block
 * called reachable may be unreachable, but a block without any pointer to it is lost. The search
 * follows blocks from the roots (scan.h) in the order of their ranks: a word on a stack or in a
 * register may be left from a call that has returned, so variables come first. Memory that the
 * program has mapped past malloc is searched last, because a custom heap in it may contain remains.
 * A pointer to the end of a block does not count.
 *
 * An unreached block that another unreached block points to was lost through that block. A ring of
 * such blocks has no beginning; the block with the lowest address is then taken as its
 * beginning. */
#include "image/reach.h"

#include <stdlib.h>
#include <string.h>

#include "image/saved_registers.h"

enum { UNSEEN = REACH_NONE, PASSES = 2 };

struct search {
    const struct examined *e;
    const uint64_t *extents;
    uint8_t *of;
    uint32_t *stack; // Blocks that are still to search.
    size_t stack_count;
    uint64_t low, high; // Bounds of all blocks.
    uint8_t mark;
    bool in_libc; // The words being searched are libc's variables.
    size_t from;  // Index of the block being searched, plus 1; 0 = none.
    uint32_t lost;  // Index plus 1 of the lost block with which other blocks are lost now.
    uint32_t *with; // As in struct reached; NULL = no lost blocks are searched yet.
};

static void
reach_follow(void *arg, uint64_t at, uint64_t value)
{
    struct search *s = arg;
    size_t i;

    (void)at;
    if (value - s->low >= s->high - s->low)
        return;
    i = scan_block_at(s->e, s->extents, value);
    // A block's pointer to itself does not keep it alive.
    if (i == 0 || i == s->from || s->of[i - 1] != UNSEEN)
        return;
    if (s->in_libc && scan_is_next_chunk(&s->e->blocks.v[i - 1], value))
        return;
    s->of[i - 1] = s->mark;
    if (s->with != NULL)
        s->with[i - 1] = s->lost;
    s->stack[s->stack_count++] = (uint32_t)(i - 1);
}

/* Search all blocks on the stack, and those found meanwhile. */
static void
reach_drain(struct search *s)
{
    while (s->stack_count > 0) {
        uint32_t i = s->stack[--s->stack_count];
        uint64_t address = s->e->blocks.v[i].address;

        s->from = i + 1;
        scan_words(s->e, address, address + s->extents[i], reach_follow, s);
    }
    s->from = 0;
}

/* Separate the unreached blocks into lost blocks and blocks lost through another one. */
static void
part_lost(struct search *s)
{
    const struct blocks *b = &s->e->blocks;
    uint8_t *pointed = calloc(b->count + 1, 1), *real = s->of;

    if (pointed == NULL)
        return;
    // Mark the targets of pointers in lost blocks, without following them.
    for (size_t i = 0; i < b->count; i++)
        pointed[i] = real[i] == UNSEEN ? (uint8_t)UNSEEN : (uint8_t)REACH_YES;
    for (size_t i = 0; i < b->count; i++)
        if (real[i] == UNSEEN) {
            s->of = pointed;
            s->mark = REACH_THROUGH;
            s->from = i + 1;
            scan_words(s->e, b->v[i].address, b->v[i].address + s->extents[i], reach_follow, s);
            s->stack_count = 0;
        }
    s->of = real;
    s->from = 0;
    // First visit the lost blocks without any pointer to them, and all blocks reachable from these.
    // Then visit rings of lost blocks that point to one another.
    for (int ring = 0; ring < PASSES; ring++)
        for (size_t i = 0; i < b->count; i++) {
            if (real[i] != UNSEEN || (!ring && pointed[i] != UNSEEN))
                continue;
            real[i] = REACH_KINDS; // This value means REACH_NONE until the search ends.
            s->mark = REACH_THROUGH;
            s->lost = (uint32_t)i + 1;
            s->stack[s->stack_count++] = (uint32_t)i;
            reach_drain(s);
        }
    for (size_t i = 0; i < b->count; i++)
        if (real[i] == REACH_KINDS)
            real[i] = REACH_NONE;
    free(pointed);
}

/* Search from the RANGES of RANK and, with RANK_STACK, from the registers. */
static void
begin_at(struct search *s, const struct scan_range *ranges, size_t count, enum root_rank rank,
         struct reached *ret)
{
    static const uint8_t marks[] = {[RANK_VARIABLE] = REACH_YES,
                                    [RANK_STACK] = REACH_STACK,
                                    [RANK_MAPPED] = REACH_MAPPED};

    s->mark = marks[rank];
    for (size_t i = 0; i < count; i++)
        if (root_rank(&ranges[i]) == rank) {
            s->in_libc = ranges[i].is_libc;
            scan_words(s->e, ranges[i].start, ranges[i].end, reach_follow, s);
            s->in_libc = false;
            ret->scanned_bytes += ranges[i].end - ranges[i].start;
            reach_drain(s);
        }
    if (rank != RANK_STACK)
        return;
    for (size_t i = 0; i < s->e->memory.thread_count; i++)
        saved_registers_scan(&s->e->memory, &s->e->memory.threads[i], reach_follow, s);
    reach_drain(s);
}

void
reach_find(const struct examined *e, struct arena *arena, struct reached *ret)
{
    const struct blocks *b = &e->blocks;
    struct search s = {.e = e, .extents = scan_extents(e, arena)};
    struct scan_range *ranges;
    size_t count = scan_ranges(e, arena, &ranges);

    *ret = (struct reached){.of = arena_alloc(arena, b->count + 1),
                            .with = arena_array(arena, b->count + 1, sizeof *ret->with)};
    if (b->count == 0)
        return;
    memset(ret->of, UNSEEN, b->count);
    s.of = ret->of;
    s.stack = xmalloc(b->count * sizeof *s.stack);
    s.low = b->v[0].address;
    s.high = b->v[b->count - 1].address + s.extents[b->count - 1];
    begin_at(&s, ranges, count, RANK_VARIABLE, ret);
    begin_at(&s, ranges, count, RANK_STACK, ret);
    begin_at(&s, ranges, count, RANK_MAPPED, ret);
    s.with = ret->with;
    part_lost(&s);
    free(s.stack);
}

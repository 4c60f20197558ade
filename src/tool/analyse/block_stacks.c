/* block_stacks.c: group the blocks of a process's memory by stack.
 *
 * A block stores the id of its site, and a stack is a set of sites. So one pass counts the blocks
 * of each stack. The second pass fills `order`, stack after stack, each stack's blocks by
 * address. */
#include "analyse/leaks.h"

#include <stdlib.h>

uint32_t *
block_stacks_sites(const struct profile *p, struct arena *arena, uint32_t *ret_count)
{
    uint32_t largest = 0;
    uint32_t *of;

    for (size_t i = 0; i < p->site_count; i++)
        if (p->sites[i].id > largest)
            largest = p->sites[i].id;
    of = arena_array(arena, (size_t)largest + 1, sizeof *of);
    for (size_t i = 0; i < p->site_count; i++)
        of[p->sites[i].id] = (uint32_t)i + 1;
    of[0] = 0;
    *ret_count = largest + 1;
    return of;
}

void
block_stacks_build(const struct profile *p, const struct stacks *stacks, const struct blocks *b,
                   struct arena *arena, struct block_stacks *ret)
{
    uint32_t count, *of = block_stacks_sites(p, arena, &count);
    size_t *next = arena_array(arena, stacks->count + 1, sizeof *next);

    *ret = (struct block_stacks){
        .blocks = b,
        .stack_of = arena_array(arena, b->count + 1, sizeof *ret->stack_of),
        .first = arena_array(arena, stacks->count + 2, sizeof *ret->first),
        .order = arena_array(arena, b->count + 1, sizeof *ret->order),
    };
    for (size_t i = 0; i < b->count; i++) {
        uint32_t site = b->v[i].site < count ? of[b->v[i].site] : 0;
        uint32_t stack = site != 0 ? stacks->site_stacks[site - 1] : 0;

        ret->stack_of[i] = stack;
        if (stack != 0)
            ret->first[stack]++;
    }
    for (size_t i = 0; i < stacks->count; i++) {
        ret->first[i + 1] += ret->first[i];
        next[i] = ret->first[i];
    }
    for (size_t i = 0; i < b->count; i++)
        if (ret->stack_of[i] != 0)
            ret->order[next[ret->stack_of[i] - 1]++] = (uint32_t)i;
}

static int
block_stacks_by_size(const void *a, const void *b)
{
    const struct block_size *x = a, *y = b;

    return x->size_bytes < y->size_bytes ? -1 : x->size_bytes > y->size_bytes;
}

size_t
block_stacks_sizes(const struct block_stacks *s, size_t i, struct arena *arena,
                   struct block_size **ret, size_t *ret_unknown)
{
    size_t count = 0, kept = 0;
    struct block_size *v = arena_array(arena, s->first[i + 1] - s->first[i], sizeof *v);

    for (size_t k = s->first[i]; k < s->first[i + 1]; k++) {
        const struct block *b = &s->blocks->v[s->order[k]];

        if (!(b->flags & (BLOCK_CORRUPTED | BLOCK_UNSIZED | BLOCK_GUESSED)))
            v[count++] = (struct block_size){b->size_bytes, 1};
    }
    *ret_unknown = s->first[i + 1] - s->first[i] - count;
    if (count > 1)
        qsort(v, count, sizeof *v, block_stacks_by_size);
    for (size_t k = 0; k < count; k++) {
        if (kept > 0 && v[kept - 1].size_bytes == v[k].size_bytes)
            v[kept - 1].blocks++;
        else
            v[kept++] = v[k];
    }
    *ret = v;
    return kept;
}

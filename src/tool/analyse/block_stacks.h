/* block_stacks.h: blocks of a process's memory, by stack. */
#ifndef ANALYSE_BLOCK_STACKS_H
#define ANALYSE_BLOCK_STACKS_H

#include "analyse/stacks.h"
#include "image/blocks.h"

struct block_stacks {
    const struct blocks *blocks;
    uint32_t *stack_of; // By block: index into the stacks plus 1; 0 = filtered out.
    // By stack: the blocks of stack i are order[first[i]] to order[first[i + 1] - 1], by address.
    size_t *first;
    uint32_t *order;
};

/* Assign the blocks of B to STACKS, built from P, by their site ids. From ARENA. */
void block_stacks_build(const struct profile *p, const struct stacks *stacks,
                        const struct blocks *b, struct arena *arena, struct block_stacks *ret);

/* Blocks of one size. */
struct block_size {
    uint64_t size_bytes;
    uint64_t blocks;
};

/* Store the sizes of the blocks of stack I, smallest first, in an array from ARENA, and return
 * their number. *RET_UNKNOWN is the number of blocks of unknown size. */
size_t block_stacks_sizes(const struct block_stacks *s, size_t i, struct arena *arena,
                          struct block_size **ret, size_t *ret_unknown);

#endif

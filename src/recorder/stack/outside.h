/* outside.h: stacks that have no nodes of their own in the call tree. See outside.c. Called by the
 * thread that owns T, in an event. */
#ifndef STACK_OUTSIDE_H
#define STACK_OUTSIDE_H

#include "account/nodes.h"
#include "account/thread.h"

/* Ids of paths are above those of all nodes. */
#define OUTSIDE_FIRST ((uint32_t)1 << 30)
static_assert(LIMIT_NODES < 1 << 30, "an id says which it is");

/* The node to make children of, if NODE is what is remembered of a frame. */
static inline uint32_t
outside_parent(uint32_t node)
{
    return likely(node < OUTSIDE_FIRST) ? node : (uint32_t)DISK_NODE_OTHER;
}

/* Give ids to those of T's remembered frames that have no nodes, from number FIRST to LAST. */
void outside_name(struct thread *t, uint32_t first, uint32_t last);

/* The node where the blocks of a stack without one are counted: all of its C frames are remembered,
 * or WALKED of them lie inside of number JOINED of the remembered ones, or what hangs on ROOT.
 * DISK_NODE_OTHER where frames of languages come into it, or there is no room. */
uint32_t outside_leaf(struct thread *t);
uint32_t outside_walked(struct thread *t, uint32_t walked, uint32_t joined, uint32_t root);

/* Has T used most ids up? Then it is time to forget all that it remembers, and them. */
bool outside_is_worn(const struct thread *t);
void outside_forget(struct thread *t);

#endif

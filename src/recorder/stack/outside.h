/* outside.h: ids for stacks without nodes in the call tree. See outside.c. Call in an event, from
 * the thread that owns T. */
#ifndef STACK_OUTSIDE_H
#define STACK_OUTSIDE_H

#include "account/nodes.h"
#include "account/thread.h"

/* Ids of paths are greater than all nodes. */
#define OUTSIDE_FIRST ((uint32_t)1 << 30)
static_assert(LIMIT_NODES < 1 << 30, "an id says which it is");

/* Return the node to add children to, for the node or id NODE of a remembered frame. */
static inline uint32_t
outside_parent(uint32_t node)
{
    return likely(node < OUTSIDE_FIRST) ? node : (uint32_t)DISK_NODE_OTHER;
}

/* Give ids to T's remembered frames [FIRST, LAST] that have no nodes. */
void outside_name(struct thread *t, uint32_t first, uint32_t last);

/* Return the node that counts the blocks of a stack without a node. outside_leaf: all C frames are
 * in the memo. outside_walked: WALKED frames lie inside number JOINED of the memo, whose outermost
 * frame, or theirs if JOINED is 0, is a child of ROOT. Return DISK_NODE_OTHER if frames of
 * languages belong to the stack, or there is no room. */
uint32_t outside_leaf(struct thread *t);
uint32_t outside_walked(struct thread *t, uint32_t walked, uint32_t joined, uint32_t root);

/* Return true if T has used most ids. The caller then forgets the memo and all passing stacks, and
 * calls outside_forget. */
bool outside_is_worn(const struct thread *t);
void outside_forget(struct thread *t);

#endif

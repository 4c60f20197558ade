/* path_ids.h: assigns ids to stacks without nodes in the call tree. See path_ids.c. Call in an
 * event, from the thread that owns T. */
#ifndef STACK_PATH_IDS_H
#define STACK_PATH_IDS_H

#include "account/nodes.h"
#include "account/thread.h"

/* First id of a path. All ids are greater than all nodes. */
#define PATH_IDS_FIRST ((uint32_t)1 << 30)
static_assert(LIMIT_NODES < 1 << 30, "an id says which it is");

/* Return the parent for new nodes inside a memo frame whose node or id is NODE. */
static inline uint32_t
path_ids_parent(uint32_t node)
{
    return likely(node < PATH_IDS_FIRST) ? node : (uint32_t)DISK_NODE_OTHER;
}

/* Assign ids to T's memo frames [FIRST, LAST], which have no nodes. */
void path_ids_assign(struct thread *t, uint32_t first, uint32_t last);

/* Return the node that counts the blocks of a stack without a node. path_ids_leaf: all C frames of
 * the stack are in the memo. path_ids_walked: WALKED frames are inside memo frame number JOINED.
 * ROOT is the parent of the stack's outermost frame, which is in the memo or, if JOINED is 0, among
 * the WALKED frames. Return DISK_NODE_OTHER if the stack has frames of languages, or if there is no
 * room. */
uint32_t path_ids_leaf(struct thread *t);
uint32_t path_ids_walked(struct thread *t, uint32_t walked, uint32_t joined, uint32_t root);

/* Return true if T has used most ids. Then the caller must drop the memo and all variant stacks,
 * and call path_ids_reset. */
bool path_ids_are_used_up(const struct thread *t);
void path_ids_reset(struct thread *t);

#endif

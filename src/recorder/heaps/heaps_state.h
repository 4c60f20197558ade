/* heaps_state.h: the part of platform/state.h for the program's own heaps. */
#ifndef HEAPS_HEAPS_STATE_H
#define HEAPS_HEAPS_STATE_H

#include "platform/state.h"

struct heaps_state {
    struct heap_name *heap_names; // Indexed by the name's number.
    struct heap_instances *heaps;
    struct heap_leaf **heap_shadow[5]; // Atomic, by tier: top level of the shadow; heap_objects.c.
                                       // NULL = none.
    struct heap_sparse *heap_sparse;   // Atomic; heap_sparse.c. NULL = none.
    struct heap_slab *heap_slab;       // Atomic; heap_table.c.
};
static_assert(sizeof(struct heaps_state) <= STATE_HEAPS_BYTES, "platform/state.h reserves it");

/* Return this part of the state. Requires that `state` is not NULL. */
static inline struct heaps_state *
heaps_state(void)
{
    return (struct heaps_state *)(void *)state->heaps;
}

#endif

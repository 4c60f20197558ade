/* heap_sparse.h: objects of the program's own heaps that lie far apart; see heap_sparse.c.
 *
 * All of these may be called by several threads at once and in signal handlers. */
#ifndef HEAPS_HEAP_SPARSE_H
#define HEAPS_HEAP_SPARSE_H

#include "base/base.h"
#include "heaps/heap_instance.h"
#include "heaps/heap_table.h"

/* Insert block B at ADDRESS, where O has none. Return false without memory or room, or if B has
 * several objects. */
bool heap_sparse_insert(struct heap_objects *o, uintptr_t address, struct heap_block b);

/* Remember block B at ADDRESS in an entry that takes no memory. False: O has an object there, or
 * no entry is free, and nothing was done. */
bool heap_sparse_insert_free(struct heap_objects *o, uintptr_t address, struct heap_block b);

/* Does O have an object at ADDRESS here? */
bool heap_sparse_has(struct heap_objects *o, uintptr_t address);

/* Remove the block of O at ADDRESS and return it; its site is 0 if there is none. */
struct heap_block heap_sparse_remove(struct heap_objects *o, uintptr_t address);

/* Return a bit for each granule of GRANULE_BYTES of the 64 from START on, set if an object of any
 * instance begins there. The 64 granules are aligned and at most 4 KiB long. */
uint64_t heap_sparse_granules(uintptr_t start, uintptr_t granule_bytes);

#endif

/* heap_sparse.h: stores objects of the program's own heaps that are far apart; see heap_sparse.c.
 *
 * All functions are thread-safe and async-signal-safe. */
#ifndef HEAPS_HEAP_SPARSE_H
#define HEAPS_HEAP_SPARSE_H

#include "base/base.h"
#include "heaps/heap_instance.h"
#include "heaps/heap_table.h"

/* Insert block B at ADDRESS, where O must not have a block. Return false if memory is exhausted, if
 * there is no room, or if B is a batch of several objects, which an entry cannot hold. */
bool heap_sparse_insert(struct heap_objects *o, uintptr_t address, struct heap_block b);

/* Insert block B at ADDRESS in an entry that needs no new memory. If O has an object at ADDRESS, if
 * no entry is free, or if B does not fit into an entry, have no effect and return false. */
bool heap_sparse_insert_free(struct heap_objects *o, uintptr_t address, struct heap_block b);

/* Return true if O has a sparse object at ADDRESS. */
bool heap_sparse_has(struct heap_objects *o, uintptr_t address);

/* Remove the sparse block of O at ADDRESS and return it. Its site is 0 if there is none. */
struct heap_block heap_sparse_remove(struct heap_objects *o, uintptr_t address);

/* Return a bit for each of the 64 granules of GRANULE_BYTES from START on, set if an object of any
 * instance begins there. The range is aligned and at most 4 KiB long. */
uint64_t heap_sparse_granules(uintptr_t start, uintptr_t granule_bytes);

#endif

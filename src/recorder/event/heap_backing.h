/* heap_backing.h: records the end of memory that backs a heap of the program: a block of malloc, or
 * foreign memory. */
#ifndef EVENT_HEAP_BACKING_H
#define EVENT_HEAP_BACKING_H

#include "account/thread.h"
#include "ledger/ledger_entry.h"

/* Flags in the size of a backing block's ledger entry. BACKING_FOREIGN: the memory was not a block
 * of malloc. BACKING_SAMPLE: it was a sample, whose bins were already updated. */
#define BACKING_FOREIGN ((uint64_t)1 << 41)
#define BACKING_SAMPLE ((uint64_t)1 << 40)
#define BACKING_BYTES (BACKING_SAMPLE - 1)

/* Record the end of OLD, a ledger entry of a block that backs a heap. The block was freed or, if
 * MOVED, moved by realloc. Return the change of live bytes, which is always 0. */
int64_t heap_backing_ends(struct thread *t, struct ledger_entry old, bool moved);

#endif

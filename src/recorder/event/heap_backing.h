/* heap_backing.h: ends blocks of malloc, or foreign memory, that back a heap of the program. */
#ifndef EVENT_HEAP_BACKING_H
#define EVENT_HEAP_BACKING_H

#include "account/thread.h"
#include "ledger/ledger_entry.h"

/* Flags in the ledger's size of a backing block. BACKING_FOREIGN: the bytes were not a block of
 * malloc. BACKING_SAMPLE: they were a sample, whose bins were already updated. */
#define BACKING_FOREIGN ((uint64_t)1 << 41)
#define BACKING_SAMPLE ((uint64_t)1 << 40)
#define BACKING_BYTES (BACKING_SAMPLE - 1)

/* Handle the end of OLD, a ledger entry of a block that backs a heap: the block was freed, or
 * MOVED. Return the change of live bytes, always 0. */
int64_t heap_backing_ends(struct thread *t, struct ledger_entry old, bool moved);

#endif

/* heap_backing.h: blocks of malloc, or foreign memory, that the program uses to back a heap. */
#ifndef EVENT_HEAP_BACKING_H
#define EVENT_HEAP_BACKING_H

#include "account/thread.h"
#include "ledger/ledger_entry.h"

/* Flags in the size that the ledger keeps. BACKING_FOREIGN: the bytes were no block of malloc.
 * BACKING_SAMPLE: they were a sample, whose bins have been settled. */
#define BACKING_FOREIGN ((uint64_t)1 << 41)
#define BACKING_SAMPLE ((uint64_t)1 << 40)
#define BACKING_BYTES (BACKING_SAMPLE - 1)

/* The block OLD of the ledger backs its heap no more: it was freed or has MOVED. Return the change
 * of live bytes, always 0. */
int64_t heap_backing_ends(struct thread *t, struct ledger_entry old, bool moved);

#endif

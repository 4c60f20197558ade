/* heap_backing.h: blocks of malloc's, or foreign memory, of which the program makes a heap of its
 * own. */
#ifndef EVENT_HEAP_BACKING_H
#define EVENT_HEAP_BACKING_H

#include "account/ledger_entry.h"
#include "account/thread.h"

/* In the size that the ledger keeps: these bytes were no block of malloc's; they were a sample,
 * whose bins have been settled. */
#define BACKING_FOREIGN ((uint64_t)1 << 41)
#define BACKING_SAMPLE ((uint64_t)1 << 40)
#define BACKING_BYTES (BACKING_SAMPLE - 1)

/* The block that the ledger called OLD backs a heap no more: it was freed or has moved. Returns the
 * change of live bytes, which is none. */
int64_t heap_backing_ends(struct thread *t, struct ledger_entry old, bool moved);

#endif

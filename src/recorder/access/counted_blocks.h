/* counted_blocks.h: what events tell those who count accesses of the blocks that they record. In
 * products that count none this is nothing.
 *
 * All of these are called in an event, by the owner of the block, while the block is there. */
#ifndef ACCESS_COUNTED_BLOCKS_H
#define ACCESS_COUNTED_BLOCKS_H

#include "account/ledger_entry.h"
#include "base/base.h"

#ifdef HEAPTAP_ACCESS

/* Recording has begun in this process. */
void access_start(void);

/* The block P of SIZE_BYTES has come into the ledger, of which no allocator must be asked if
 * it is ODD. */
void access_begins(const void *p, uint64_t size_bytes, bool odd);

/* It leaves the ledger, which has said OLD of it (site 0: it was not there). It ends, or it is
 * about to be reallocated, which may fail. */
void access_ends(const void *p, struct ledger_entry old);
void access_leaves(const void *p, struct ledger_entry old);

/* The reallocation has failed: P is about to come into the ledger again, by access_begins. */
void access_again(const void *p);

/* A tool wishes (enum disk_access_wish). False: that makes no sense. */
bool access_wish(uint64_t wish);

/* Some time has passed. */
void access_look(void);

/* The exit handlers have run. */
void access_process_ends(void);

/* An object may be unloaded. */
void access_unloads(void);

/* There are counters: say so in the profile, if there is one. */
void access_publish(void);

/* Count accesses of an intercepted function to its caller's memory: READ_BYTES read at READ, and
 * WRITTEN_BYTES written at WRITTEN. NULL counts none. Async-signal-safe; call outside events. */
void access_used(const void *read, size_t read_bytes, const void *written, size_t written_bytes);

/* Note that the program looks up a function by name. Thread-safe, async-signal-safe. */
void access_looks_up(void);

#else

// Not functions, so that not even the order in which the compiler looks at their arguments is left.
#define access_start()                        ((void)0)
#define access_begins(p, size_bytes, odd)     ((void)0)
#define access_ends(p, old)                   ((void)0)
#define access_leaves(p, old)                 ((void)0)
#define access_again(p)                       ((void)0)
#define access_wish(wish)                     (false)
#define access_look()                         ((void)0)
#define access_process_ends()                 ((void)0)
#define access_unloads()                      ((void)0)
#define access_used(read, read_bytes, written, written_bytes) ((void)0)
#define access_looks_up()                     ((void)0)

#endif

#endif

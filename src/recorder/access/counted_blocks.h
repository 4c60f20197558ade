/* counted_blocks.h: events report the blocks that they record to the counting of accesses. In
 * products without that, all of these do nothing.
 *
 * Requires an event, by the owner of the block, while the block exists, unless stated otherwise. */
#ifndef ACCESS_COUNTED_BLOCKS_H
#define ACCESS_COUNTED_BLOCKS_H

#include "base/base.h"
#include "ledger/ledger_entry.h"

#ifdef HEAPTAP_ACCESS

/* Start counting: recording has begun in this process. */
void access_start(void);

/* Register block P of SIZE_BYTES, which has entered the ledger. If it is ODD, no allocator may be
 * asked about it. */
void access_begins(const void *p, uint64_t size_bytes, bool odd);

/* Handle the removal of block P from the ledger, which returned OLD (site 0: not recorded). With
 * access_ends it ends; with access_leaves it is about to be reallocated, which may fail. */
void access_ends(const void *p, struct ledger_entry old);
void access_leaves(const void *p, struct ledger_entry old);

/* Undo access_leaves: the reallocation has failed, and P is about to enter the ledger again,
 * through access_begins. */
void access_again(const void *p);

/* Finish a reallocation that has succeeded. With FREED it was realloc(p, 0). SITES are those of the
 * node where the new block has begun; NULL = not known. */
void access_moved(bool freed, const uint32_t *sites);

/* Carry out a tool's request (enum disk_access_wish). Return false if that is impossible. */
bool access_wish(uint64_t wish);

/* Merge live blocks if a step is due. Call now and then. */
void access_poll(void);

/* Merge all live blocks at exit, after the exit handlers have run. */
void access_process_ends(void);

/* Look for uncounted accesses before an object may be unloaded. */
void access_unloads(void);

/* Record in the profile, if there is one, that counters exist. */
void access_publish(void);

/* Count accesses of an intercepted function to its caller's memory: READ_BYTES read at READ, and
 * WRITTEN_BYTES written at WRITTEN. NULL counts none. Async-signal-safe; call outside events. */
void access_used(const void *read, size_t read_bytes, const void *written, size_t written_bytes);

/* Note that the program looks up a function by name. Thread-safe, async-signal-safe. */
void access_looks_up(void);

#else

// Macros, not functions, so that not even the evaluation order of their arguments matters.
#define access_start()                        ((void)0)
#define access_begins(p, size_bytes, odd)     ((void)0)
#define access_ends(p, old)                   ((void)0)
#define access_leaves(p, old)                 ((void)0)
#define access_again(p)                       ((void)0)
#define access_moved(freed, sites)            ((void)0)
#define access_wish(wish)                     (false)
#define access_poll()                         ((void)0)
#define access_process_ends()                 ((void)0)
#define access_unloads()                      ((void)0)
#define access_used(read, read_bytes, written, written_bytes) ((void)0)
#define access_looks_up()                     ((void)0)

#endif

#endif

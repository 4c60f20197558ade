/* counted_blocks.h: the events' calls into the counting of accesses. In products without counting
 * these functions have no effect.
 *
 * Unless stated otherwise, call them in an event, in the thread that owns the block, while the
 * block exists. */
#ifndef ACCESS_COUNTED_BLOCKS_H
#define ACCESS_COUNTED_BLOCKS_H

#include "base/base.h"
#include "ledger/ledger_entry.h"

#ifdef HEAPTAP_ACCESS

/* Start counting. Call when recording has begun in this process. */
void access_start(void);

/* Register block P of SIZE_BYTES, which has entered the ledger. If ODD, the allocator cannot be
 * asked for the usable size of P. */
void access_begins(const void *p, uint64_t size_bytes, bool odd);

/* Handle the removal of block P from the ledger. OLD is its ledger entry (site 0: not recorded).
 * Call access_ends if the block is about to be freed, and access_leaves if it is about to be
 * reallocated, which may fail. */
void access_ends(const void *p, struct ledger_entry old);
void access_leaves(const void *p, struct ledger_entry old);

/* Undo access_leaves after a failed reallocation. P is about to enter the ledger again, through
 * access_begins. */
void access_again(const void *p);

/* Complete a successful reallocation; FREED if it was realloc(p, 0). SITES are the sites of the
 * node that allocated the new block; NULL = unknown. */
void access_moved(bool freed, const uint32_t *sites);

/* Carry out a tool's request (enum disk_access_request). Return false if that is impossible. */
bool access_request(uint64_t request);

/* Merge live blocks if a step is due. Call from time to time. */
void access_poll(void);

/* Merge all live blocks at exit, after the exit handlers have run. */
void access_process_ends(void);

/* Search for uncounted code before an object may be unloaded. */
void access_unloads(void);

/* If there is a profile, record in it that counters exist. */
void access_publish(void);

/* Count the accesses of an intercepted function to its caller's memory: a read of READ_BYTES at
 * READ, and a write of WRITTEN_BYTES at WRITTEN. A NULL address counts nothing. Async-signal-safe;
 * call outside events. */
void access_used(const void *read, size_t read_bytes, const void *written, size_t written_bytes);

/* Record that the program looks up a function by name. Thread-safe, async-signal-safe. */
void access_looks_up(void);

#else

// Use macros, because empty functions could change the order in which the compiler evaluates
// arguments.
#define access_start()                        ((void)0)
#define access_begins(p, size_bytes, odd)     ((void)0)
#define access_ends(p, old)                   ((void)0)
#define access_leaves(p, old)                 ((void)0)
#define access_again(p)                       ((void)0)
#define access_moved(freed, sites)            ((void)0)
#define access_request(request)                     (false)
#define access_poll()                         ((void)0)
#define access_process_ends()                 ((void)0)
#define access_unloads()                      ((void)0)
#define access_used(read, read_bytes, written, written_bytes) ((void)0)
#define access_looks_up()                     ((void)0)

#endif

#endif

/* mem.h: the recorder's own memory, straight from the kernel.
 *
 * Private memory is zero-filled, kept out of core dumps (except mem_dumped) and never merged into
 * huge pages. A child made by fork sees zeros in it (MADV_WIPEONFORK). That is how the child
 * notices that it is not its parent, and why no lock and no pointer of the parent can confuse it.
 * Async-signal-safe, lock-free. */
#ifndef PLATFORM_MEM_H
#define PLATFORM_MEM_H

#include "base/atomics.h"
#include "base/base.h"

struct state;

/* Return SIZE_BYTES of private memory, page-aligned; NULL if the kernel has none. A forked child
 * reuses the same memory, so only the state, and structs reached from it, may hold the address. */
void *mem_private(size_t size_bytes);

/* Like mem_private, for an address that a variable holds: a child sees zeros there, and nothing
 * else uses that memory. Not measured (mem_measure). */
void *mem_lasting(size_t size_bytes);

/* Like mem_private, but core dumps hold it. With an arena, a 32nd of it is reserved for that.
 * Memory taken beyond that after the process has gone quiet is not in dumps. */
void *mem_dumped(size_t size_bytes);

/* Return a new state, NULL without memory. If POOLED, try to map the pool behind it:
 * *RET_POOL_BYTES of address space for all memory that a start takes; 0 = there is none. The thread
 * whose state becomes the process's then calls mem_take_state, all others mem_free_state. */
struct state *mem_new_state(bool pooled, uint64_t *ret_pool_bytes);
void mem_take_state(uint64_t new_pool_bytes);
void mem_free_state(struct state *unused, uint64_t its_pool_bytes);

/* Zero the pool, as in a child. Requires that it is not in use any more. */
void mem_wipe_pool(void);

/* Prepare for private memory to grow. Call once after `state` exists, also in a child. Return false
 * without memory. */
bool mem_start(void);

/* From now on, serve mem_private from one piece of address space, mapped here, as large as possible
 * up to MAX_BYTES. Return false if that would be too small to be of use. */
bool mem_use_arena(uint64_t max_bytes);

/* Return address space only, NULL on failure. It must not be touched until a file is mapped over
 * it. */
void *mem_reserve(size_t size_bytes);

/* Make reserved, untouched address space usable memory. Return false on failure, also where it is
 * not reserved. */
bool mem_populate(void *address, size_t size_bytes);

/* Prefault the pages of [START, END), as if they had been written. Does nothing on a kernel before
 * 5.14. */
void mem_touch(const void *start, const void *end);

/* Return true if the page of ADDRESS is in memory; false also where the kernel does not report
 * it. */
bool mem_is_there(const void *address);

/* Prefault memory that is filled from its start, in steps: cheaper than a page fault for each page.
 * It is about to be used up to END_BYTES of LIMIT_BYTES. *MADE, which threads share, is the
 * prefaulted size. A step goes beyond END_BYTES by half of END_BYTES, at most by 4 KiB. */
void mem_prefault_ahead(const void *base, uint64_t *made, uint64_t end_bytes, uint64_t limit_bytes);

/* Fast path of mem_prefault_ahead. */
static inline void
mem_fill(const void *base, uint64_t *made, uint64_t end_bytes, uint64_t limit_bytes)
{
    if (unlikely(end_bytes > load_relaxed(made)))
        mem_prefault_ahead(base, made, end_bytes, limit_bytes);
}

/* Give back all private memory except `state` itself. Requires that it is not in use any more. */
void mem_release_all(void);

/* Called when the kernel has refused SIZE_BYTES, from any thread and in signal handlers. Returns
 * true if memory was given back, so that another attempt may succeed. */
typedef bool mem_shortage_fn(uint64_t size_bytes);
void mem_on_shortage(mem_shortage_fn *f);

/* Unmap PIECE, SIZE_BYTES of mem_private, except for its first KEEP_BYTES, even in a quiet process.
 * No thread may use the rest any more. One thread at a time. */
void mem_shrink(void *piece, uint64_t size_bytes, uint64_t keep_bytes);

/* Unmap the free part of the pool, and of the arena except for SPARE_BYTES and a few mebibytes,
 * even in a quiet process. One thread at a time. */
void mem_give_back(uint64_t spare_bytes);

/* Return the bytes that were taken from the arena. */
uint64_t mem_arena_taken(void);

/* Return the size of the pool that a forked child inherits. */
uint64_t mem_pool_bytes(void);

/* Unmap the pool, except for the pages of KEPT; NULL = all of it. Requires that it is not in
 * use. */
void mem_drop_pool(const void *kept, size_t kept_bytes);

/* In a forked child, unmap its parent's private memory except for state, pool and the piece that
 * contains KEPT. Return true if there was any. */
bool mem_drop_parents(const void *kept);

/* Give back memory of mem_private. A piece of the arena or the pool cannot be given back and is
 * lost. */
void mem_release(void *address, size_t size_bytes);

/* Refuse memory for new stacks beyond MAX_BYTES, the file included; 0 = no limit. */
void mem_set_limit(uint64_t max_bytes);

/* Set the parent's limit again. Call in a forked child. */
void mem_limit_again(void);

/* Return how many bytes the limit has left; UINT64_MAX without a limit. */
uint64_t mem_left(void);

/* Account for SIZE_BYTES of private memory that are about to be touched. Return false if the limit
 * has no room for them: they must stay untouched. Memory that must never be refused is not
 * charged. */
bool mem_charge(uint64_t size_bytes);

/* Undo a charge: the memory was not touched, or had been charged already. */
void mem_uncharge(uint64_t size_bytes);

/* Return true if so little is left that new stacks must be shortened to their innermost frames. The
 * rest is reserved for known stacks. */
bool mem_is_full(void);

/* Return true if even less is left, so that new stacks must be charged to "other". */
bool mem_is_used_up(void);

/* Update the header's figure of the recorder's own memory. If DUE, only if there is a limit and
 * much has been added since the last time. Makes a system call for each 16 MiB of private memory.
 * BUFFER is scratch, for the caller alone. */
enum { MEM_RESIDENT_PAGES = 4096 };
void mem_measure(bool due, unsigned char buffer[MEM_RESIDENT_PAGES]);

#endif

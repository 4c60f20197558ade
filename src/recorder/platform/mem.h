/* mem.h: the recorder's own memory, straight from the kernel.
 *
 * Private memory is zero-filled, kept out of core dumps (but for mem_dumped) and never merged into
 * huge pages, and a child made by fork sees zeros in it (MADV_WIPEONFORK): that is how the child
 * notices that it is not its parent, and why no lock and no pointer of the parent can confuse it.
 * Signal-safe, lock-free.
 */
#ifndef PLATFORM_MEM_H
#define PLATFORM_MEM_H

#include "base/atomics.h"
#include "base/base.h"

struct state;

/* SIZE_BYTES of private memory, page-aligned; NULL if the kernel has none. A forked child starts
 * with the same memory, so nobody may keep the address but the state and what hangs on it. */
void *mem_private(size_t size_bytes);

/* The same for what is known by a variable: a child finds zeros there, and nobody else's. Not
 * measured (mem_measure). */
void *mem_lasting(size_t size_bytes);

/* The same, but a core dump holds it. With an arena there is room for that up to a 32nd of it; what
 * is taken beyond that once the process has gone quiet is not in dumps. */
void *mem_dumped(size_t size_bytes);

/* A new state, NULL without memory. If it is POOLED, there is memory behind it for all that a start
 * takes, *RET_POOL_BYTES of address space; 0 = there is none. The thread whose state becomes that
 * of the process then calls mem_take_state, and all others mem_free_state. */
struct state *mem_new_state(bool pooled, uint64_t *ret_pool_bytes);
void mem_take_state(uint64_t new_pool_bytes);
void mem_free_state(struct state *unused, uint64_t its_pool_bytes);

/* Nobody uses the memory behind the state any more: make it zeros, as in a child. */
void mem_wipe_pool(void);

/* Prepare for private memory to grow; to be called once `state` is there, also in a child. False
 * without memory. */
bool mem_start(void);

/* From now on serve mem_private from one piece of address space, taken here, as large as up to
 * MAX_BYTES as can be had. False when that would be too small to be of use. */
bool mem_use_arena(uint64_t max_bytes);

/* Address space only: nothing may be touched in it until a file is mapped over. NULL on failure. */
void *mem_reserve(size_t size_bytes);

/* Make reserved, untouched address space usable memory. False also where it is not reserved. */
bool mem_populate(void *address, size_t size_bytes);

/* Have the kernel make the pages from that of START up to that of END, which is left out, as if
 * they had been written to. A kernel before 5.14 does not know how: they are made when used. */
void mem_touch(const void *start, const void *end);

/* Is the page of ADDRESS in memory? False where the kernel does not say. */
bool mem_is_there(const void *address);

/* Memory that is filled from its beginning on is about to be used up to END_BYTES of LIMIT_BYTES,
 * and its pages up to *MADE are there: have the kernel make more of them in one step, which is
 * cheaper than a page fault for each. A step goes beyond END_BYTES by half of that, at most by
 * 4 KiB. *MADE is shared by threads. */
void mem_make_ahead(const void *base, uint64_t *made, uint64_t end_bytes, uint64_t limit_bytes);

/* The same when it is often called. */
static inline void
mem_fill(const void *base, uint64_t *made, uint64_t end_bytes, uint64_t limit_bytes)
{
    if (unlikely(end_bytes > load_relaxed(made)))
        mem_make_ahead(base, made, end_bytes, limit_bytes);
}

/* Give back all private memory but `state` itself; it must not be in use any more. */
void mem_release_all(void);

/* Called when the kernel has refused SIZE_BYTES, from any thread and in signal handlers: true if
 * memory was given back, so that another attempt may succeed. */
typedef bool mem_shortage_fn(uint64_t size_bytes);
void mem_on_shortage(mem_shortage_fn *f);

/* Unmap PIECE, SIZE_BYTES of mem_private, but for its first KEEP_BYTES, even in a quiet process. No
 * thread may use the rest any more. One thread at a time. */
void mem_shrink(void *piece, uint64_t size_bytes, uint64_t keep_bytes);

/* Unmap what nobody has taken from the pool, and from the arena all but a few mebibytes, even in a
 * quiet process. One thread at a time. */
void mem_give_back(void);

/* Size of the pool that a forked child finds. */
uint64_t mem_pool_bytes(void);

/* Unmap the pool, which nobody uses, except for the pages of KEPT; NULL = all of it. */
void mem_drop_pool(const void *kept, size_t kept_bytes);

/* Unmap what a forked child has of its parent's private memory besides state and pool, except for
 * the piece that KEPT is in: true if there was any. */
bool mem_drop_parents(const void *kept);

/* Give back memory of mem_private. A piece of the arena or the pool cannot be given back and is
 * lost. */
void mem_release(void *address, size_t size_bytes);

/* From now on take no more than MAX_BYTES, the file included, as far as new stacks are the reason;
 * 0 = as much as there is. */
void mem_set_limit(uint64_t max_bytes);

/* Set the parent's limit again. To be called in a forked child. */
void mem_limit_again(void);

/* How many bytes of the limit are left; UINT64_MAX without one. */
uint64_t mem_left(void);

/* Account for SIZE_BYTES of private memory that are about to be touched. Return false if the limit
 * has no room for them: they must stay untouched. What must never be refused is not charged. */
bool mem_charge(uint64_t size_bytes);

/* Take back a charge: the memory was not touched, or had been charged already. */
void mem_uncharge(uint64_t size_bytes);

/* Is so little left that stacks not yet known must do with their innermost frames? What is kept is
 * for those that are. */
bool mem_is_full(void);

/* Is even less left, so that they must be charged to "other"? */
bool mem_is_used_up(void);

/* Bring the header's word on our own memory up to now; if only DUE, then only when there is a limit
 * and much has been added since the last time. Takes a system call for each 16 MiB of private
 * memory, into BUFFER, which nobody else may use meanwhile. */
enum { MEM_RESIDENT_PAGES = 4096 };
void mem_measure(bool due, unsigned char buffer[MEM_RESIDENT_PAGES]);

#endif

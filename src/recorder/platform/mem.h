/* mem.h: the recorder's own memory, allocated directly from the kernel.
 *
 * Private memory is zero-filled, excluded from core dumps (except mem_dumped) and never merged into
 * huge pages. A child made by fork sees zeros in it (MADV_WIPEONFORK). The child recognises by the
 * zeros that it is not its parent, and inherits no lock and no pointer of the parent. All functions
 * are async-signal-safe and lock-free. */
#ifndef PLATFORM_MEM_H
#define PLATFORM_MEM_H

#include "base/atomics.h"
#include "base/base.h"

struct core_record;
struct state;

/* Return SIZE_BYTES of private memory, page-aligned; NULL if the kernel has none. A forked child
 * uses the same address range again. So only the state, and structs reachable from it, may store
 * the address. */
void *mem_private(size_t size_bytes);

/* Like mem_private, for memory whose address is in a variable outside the state. A forked child
 * sees zeros there, and the recorder uses the memory for nothing else. mem_measure does not include
 * it. */
void *mem_lasting(size_t size_bytes);

/* Like mem_private, but core dumps include it. A 32nd of an arena is reserved for such memory. If
 * the process has become quiet and this part is used up, dumps lack further memory. */
void *mem_dumped(size_t size_bytes);

/* Exclude the SIZE_BYTES of the recorder's memory at ADDRESS, which did not come from mem.c, from
 * core dumps. List them for readers of dumps. */
void mem_exclude(void *address, size_t size_bytes);

/* Store in R where readers of dumps find the list of excluded memory. */
void mem_publish_pieces(struct core_record *r);

/* Return a new state; NULL if there is no memory. If POOLED, try to map the pool, the address space
 * for all memory that a start needs, behind the state. Store the size of the pool in
 * *RET_POOL_BYTES; 0 if there is no pool. The thread whose state the process adopts then calls
 * mem_take_state; every other thread calls mem_free_state. */
struct state *mem_new_state(bool pooled, uint64_t *ret_pool_bytes);
void mem_take_state(uint64_t new_pool_bytes);
void mem_free_state(struct state *unused, uint64_t its_pool_bytes);

/* Zero the pool, as fork does for a child. The pool must not be in use any more. */
void mem_wipe_pool(void);

/* Prepare for private memory to grow. Call once after `state` exists, also in a child. Return false
 * if there is no memory. */
bool mem_start(void);

/* Serve mem_private from one piece of address space from now on. The piece is mapped here, as large
 * as possible up to MAX_BYTES. Return false if that would be too small to be useful. */
bool mem_use_arena(uint64_t max_bytes);

/* Return reserved address space, NULL on failure. Do not touch it before a file is mapped over
 * it. */
void *mem_reserve(size_t size_bytes);

/* Make reserved, untouched address space usable. Return false on failure, and where nothing is
 * reserved. */
bool mem_populate(void *address, size_t size_bytes);

/* Prefault the pages of [START, END), as if they had been written. Does nothing on a kernel before
 * 5.14. */
void mem_touch(const void *start, const void *end);

/* Return true if the page of ADDRESS is resident; false also if the kernel does not report it. */
bool mem_is_mapped(const void *address);

/* Prefault the next step of a piece of LIMIT_BYTES that is filled from its start. This is faster
 * than one page fault per page. The caller is about to use the first END_BYTES. *MADE, which all
 * threads share, is the prefaulted size. A step extends beyond END_BYTES by half of END_BYTES, at
 * most 4 KiB. */
void mem_prefault_ahead(const void *base, uint64_t *made, uint64_t end_bytes, uint64_t limit_bytes);

/* Fast path of mem_prefault_ahead. */
static inline void
mem_fill(const void *base, uint64_t *made, uint64_t end_bytes, uint64_t limit_bytes)
{
    if (unlikely(end_bytes > load_relaxed(made)))
        mem_prefault_ahead(base, made, end_bytes, limit_bytes);
}

/* Unmap all private memory except `state` itself. It must not be in use any more. */
void mem_release_all(void);

/* A function that mem.c calls when the kernel has refused SIZE_BYTES, in any thread and in signal
 * handlers. It returns true if it freed memory, so that the caller should try again. */
typedef bool mem_shortage_fn(uint64_t size_bytes);
void mem_on_shortage(mem_shortage_fn *f);

/* Unmap PIECE, SIZE_BYTES of mem_private, except for its first KEEP_BYTES, even in a quiet process.
 * No thread may use the unmapped part. One thread at a time. */
void mem_shrink(void *piece, uint64_t size_bytes, uint64_t keep_bytes);

/* Unmap the free part of the pool or, with an arena, the free part of the arena except for
 * SPARE_BYTES and a few mebibytes. Works even in a quiet process. One thread at a time. */
void mem_give_back(uint64_t spare_bytes);

/* Return the number of bytes allocated from the arena. */
uint64_t mem_arena_taken(void);

/* Return the size of the pool that a forked child would inherit. */
uint64_t mem_pool_bytes(void);

/* Unmap the pool, except for the pages of KEPT; if KEPT is NULL, all of it. The pool must not be in
 * use. */
void mem_drop_pool(const void *kept, size_t kept_bytes);

/* In a forked child, unmap the parent's private memory except for the state, the pool and the piece
 * that contains KEPT. Return true if there was any. */
bool mem_drop_parents(const void *kept);

/* Return the memory whose address is in *PLACE, a pointer. If it is NULL, allocate SIZE_BYTES with
 * MAKE, one of the functions above, and store the address. If several threads do so at once, all
 * get the memory of the first. Set *RET_NEW, which may be NULL, to true if this call has stored the
 * address. Return NULL if memory is exhausted. */
void *mem_once(void *place, void *(*make)(size_t), size_t size_bytes, bool *ret_new);

/* Unmap memory of mem_private. A piece of the arena or the pool cannot be reused and is lost. */
void mem_release(void *address, size_t size_bytes);

/* Set the memory limit, which includes the file: beyond MAX_BYTES, refuse memory for new stacks. 0
 * = the default: memory_share() once the tree is large, and no limit with a reserve. */
void mem_set_limit(uint64_t max_bytes);

/* Set the parent's memory limit again. Call in a forked child. */
void mem_limit_again(void);

/* Return the number of bytes left under the limit; UINT64_MAX without a limit. */
uint64_t mem_left(void);

/* Charge SIZE_BYTES of private memory that are about to be touched. Return false if they exceed the
 * limit: the memory must stay untouched. Memory that must never be refused is not charged. */
bool mem_charge(uint64_t size_bytes);

/* Undo a charge for memory that was not touched or was charged twice. */
void mem_uncharge(uint64_t size_bytes);

/* Return true if so little is left under the limit that new stacks must be shortened to their
 * innermost frames. The rest is reserved for known stacks. */
bool mem_is_full(void);

/* Return true if even less is left than for mem_is_full, so that events of new stacks must be
 * charged to "other". */
bool mem_is_used_up(void);

/* Measure the recorder's own memory and store the result in the header. If DUE, do so only if there
 * is a limit and the memory has grown much since the last measurement. Needs one system call per 16
 * MiB of private memory. BUFFER is scratch space that no other thread uses. */
enum { MEM_RESIDENT_PAGES = 4096 };
void mem_measure(bool due, unsigned char buffer[MEM_RESIDENT_PAGES]);

#endif

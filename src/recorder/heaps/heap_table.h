/* heap_table.h: tables of one of the program's own heaps; see heap_table.c.
 *
 * Thread-safe and async-signal-safe. Zeroed memory is an empty table. Memory is reused but never
 * released, so an instance occupies as much memory as at its largest size. */
#ifndef HEAPS_HEAP_TABLE_H
#define HEAPS_HEAP_TABLE_H

#include "base/atomics.h"
#include "base/base.h"

enum { HEAP_MAP_LEVELS = 24, HEAP_LIVE_LEVELS = 10 };

/* Live blocks by address, only those for which heap_objects.c has no other place. */
struct heap_map {
    uint32_t cleared;              // Number of resets; entries older than the latest one are
                                   // invalid.
    uint32_t top;                  // Atomic: the number of a reset, and the last level with entries
                                   // since that reset.
    void *levels[HEAP_MAP_LEVELS]; // struct heap_map_level
};

struct heap_block {
    uint32_t site;  // 0 = no block.
    uint32_t birth; // Birth number (account/recent.h).
    uint64_t count, size_bytes;
};

/* Insert BLOCK at ADDRESS, where there must be none. Return false without memory, or if ADDRESS is
 * too large. */
bool heap_map_insert(struct heap_map *m, const void *address, struct heap_block block);

/* Remove the block at ADDRESS and return it; its site is 0 if there is none. */
struct heap_block heap_map_remove(struct heap_map *m, const void *address);

/* Remove all blocks, in constant time (except for one call in 65535). */
void heap_map_empty(struct heap_map *m);

/* Live objects and bytes at one site, as two sums. One is for the heap's own thread, which alone
 * writes it and needs no atomic addition. The other is for all other threads. */
struct heap_live {
    uint32_t site; // Atomic; 0 = unused.
    uint32_t reserved;
    int64_t own_count, own_bytes; // Atomic, written by one thread.
    int64_t count, size_bytes;    // Atomic.
};

/* Add COUNT objects with SIZE_BYTES in total to L; both may be negative. OWN: the caller is the
 * heap's own thread. */
static inline void
heap_live_add(struct heap_live *l, bool own, int64_t count, int64_t size_bytes)
{
    if (likely(own)) {
        store_relaxed(&l->own_count, load_relaxed(&l->own_count) + count);
        store_relaxed(&l->own_bytes, load_relaxed(&l->own_bytes) + size_bytes);
    } else {
        add_relaxed(&l->count, count);
        add_relaxed(&l->size_bytes, size_bytes);
    }
}

/* Return all values of L and subtract them from L. Concurrent additions remain in L. */
void heap_live_take(struct heap_live *l, int64_t *ret_count, int64_t *ret_bytes);

struct heap_live_level;

struct heap_lives {
    void *levels[HEAP_LIVE_LEVELS]; // struct heap_live_level
    uint32_t used;                  // Atomic: number of levels that may have entries.
    struct heap_live_level *last;   // Atomic: the last of these levels, which has nearly all
                                    // entries; may be outdated.
};

struct heap_live_level {
    uint64_t mask; // Number of places minus one.
    uint64_t reserved[7];
    struct heap_live places[];
};

static inline uint64_t
heap_live_hash(uint32_t site)
{
    return site * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* Slow path of heap_live_at. */
struct heap_live *heap_live_find(struct heap_lives *l, uint32_t site);

/* Return the entry of SITE if it is in its first slot of the last level, as most are; else NULL. */
static inline struct heap_live *
heap_live_first(struct heap_lives *l, uint32_t site)
{
    struct heap_live_level *level = load_acquire(&l->last);
    struct heap_live *p;

    // If a handler has forked meanwhile, a pointer that was set reads as NULL in the child
    // (event/fork_child.c).
    if (unlikely(level == NULL))
        return NULL;
    p = &level->places[heap_live_hash(site) & level->mask];
    return likely(load_acquire(&p->site) == site) ? p : NULL;
}

/* Return the entry of SITE, created on demand; NULL without memory. */
static inline struct heap_live *
heap_live_at(struct heap_lives *l, uint32_t site)
{
    struct heap_live *p = heap_live_first(l, site);

    return likely(p != NULL) ? p : heap_live_find(l, site);
}

/* Return the first entry in use from number *I on, and store the following number in *I; NULL after
 * the last. A full walk examines all slots, a few times the number of sites. */
struct heap_live *heap_live_next(struct heap_lives *l, uint64_t *i);

/* Remove all entries. Their values must be zero. */
void heap_live_clear(struct heap_lives *l);

/* Return SIZE_BYTES of zeroed private memory for a table. It is never released. Return NULL without
 * memory. */
void *heap_memory(size_t size_bytes);

/* Return the SIZE_BYTES of zeroed memory that the atomic pointer *PLACE points to. If it is NULL,
 * allocate them and charge CHARGED_BYTES. Return NULL without memory, and if all memory was
 * reserved in advance. */
void *heap_memory_once(void *place, size_t size_bytes, size_t charged_bytes);

#endif

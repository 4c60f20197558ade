/* heap_table.h: the hash tables of a heap of the program; see heap_table.c.
 *
 * Thread-safe and async-signal-safe. Zeroed memory is an empty table. Memory is reused but never
 * released, so an instance occupies as much memory as at its largest size. */
#ifndef HEAPS_HEAP_TABLE_H
#define HEAPS_HEAP_TABLE_H

#include "base/atomics.h"
#include "base/base.h"

enum { HEAP_MAP_LEVELS = 24, HEAP_LIVE_LEVELS = 10 };

/* Live blocks by address. Contains only blocks that do not fit into the shadow (heap_objects.c). */
struct heap_map {
    uint32_t cleared;              // Number of resets. Entries from before the latest reset are
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

/* Insert BLOCK at ADDRESS, where there must not be a block. Return false if memory is exhausted, or
 * if ADDRESS is too large. */
bool heap_map_insert(struct heap_map *m, const void *address, struct heap_block block);

/* Remove the block at ADDRESS and return it. Its site is 0 if there is none. */
struct heap_block heap_map_remove(struct heap_map *m, const void *address);

/* Remove all blocks in constant time. One call in 65535 takes longer. */
void heap_map_empty(struct heap_map *m);

/* Live objects and bytes at one site, in two sums. Only the heap's own thread writes the first sum,
 * so it needs no atomic addition. All other threads add to the second sum. */
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
                                    // entries. May be outdated.
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

/* Return the entry of SITE if it is in its first slot of the last level, where most entries are;
 * else NULL. */
static inline struct heap_live *
heap_live_first(struct heap_lives *l, uint32_t site)
{
    struct heap_live_level *level = load_acquire(&l->last);
    struct heap_live *p;

    // If a handler has forked in the meantime, a pointer that was set reads as NULL in the child
    // (event/fork_child.c).
    if (unlikely(level == NULL))
        return NULL;
    p = &level->places[heap_live_hash(site) & level->mask];
    return likely(load_acquire(&p->site) == site) ? p : NULL;
}

/* Return the entry of SITE, created on first use. Return NULL if memory is exhausted. */
static inline struct heap_live *
heap_live_at(struct heap_lives *l, uint32_t site)
{
    struct heap_live *p = heap_live_first(l, site);

    return likely(p != NULL) ? p : heap_live_find(l, site);
}

/* Return the first used entry from number *I on, and store the following number in *I. Return NULL
 * after the last entry. A full walk examines all slots, whose number is a few times the number of
 * sites. */
struct heap_live *heap_live_next(struct heap_lives *l, uint64_t *i);

/* Remove all entries. Their values must be zero. */
void heap_live_clear(struct heap_lives *l);

/* Return SIZE_BYTES of zeroed private memory for a table, or NULL if memory is exhausted. The
 * memory is never released. */
void *heap_memory(size_t size_bytes);

/* Return *PLACE, an atomic pointer to SIZE_BYTES of zeroed memory. If it is NULL, allocate the
 * memory and charge CHARGED_BYTES. Return NULL if memory is exhausted, or if all memory was
 * reserved in advance. */
void *heap_memory_once(void *place, size_t size_bytes, size_t charged_bytes);

#endif

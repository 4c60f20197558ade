/* heap_table.h: tables of one of the program's own heaps; see heap_table.c.
 *
 * All of these may be called by several threads at once and in signal handlers. All zero is empty.
 * Memory is never given back but used again, so an instance costs what it held at its largest.
 */
#ifndef ACCOUNT_HEAP_TABLE_H
#define ACCOUNT_HEAP_TABLE_H

#include "base/atomics.h"
#include "base/base.h"

enum { HEAP_MAP_LEVELS = 24, HEAP_LIVE_LEVELS = 10 };

/* Live blocks by address, those that heap_objects.c has no other place for. */
struct heap_map {
    uint32_t emptied;              // How many times; entries from before mean nothing.
    uint32_t top;                  // Atomic: of which emptying, and the last level with entries.
    void *levels[HEAP_MAP_LEVELS]; // struct heap_map_level
};

struct heap_block {
    uint32_t site;  // 0 = there is none.
    uint32_t birth; // Of recent.h.
    uint64_t count, size_bytes;
};

/* Remember BLOCK at ADDRESS, where none is. False: no memory, or no such address. */
bool heap_map_insert(struct heap_map *m, const void *address, struct heap_block block);

/* Take out the block at ADDRESS and return it; its site is 0 if there is none. */
struct heap_block heap_map_remove(struct heap_map *m, const void *address);

/* Forget all blocks. It takes no longer if there are many. */
void heap_map_empty(struct heap_map *m);

/* Live objects and bytes at one site: what the thread that the heap belongs to has counted, which
 * no other thread writes, so that it needs no atomic addition, and what all others have. */
struct heap_live {
    uint32_t site; // Atomic; 0 = unused.
    uint32_t reserved;
    int64_t own_count, own_bytes; // Atomic, written by one thread.
    int64_t count, size_bytes;    // Atomic.
};

/* COUNT objects of SIZE_BYTES more are at L, or less if they are negative. OWN: the caller is the
 * one thread that the heap belongs to. */
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

/* Take all out of L. What the owner or others add meanwhile is still there after it. */
void heap_live_take(struct heap_live *l, int64_t *ret_count, int64_t *ret_bytes);

struct heap_live_level;

struct heap_lives {
    void *levels[HEAP_LIVE_LEVELS]; // struct heap_live_level
    uint32_t used;                  // Atomic: levels that may have something.
    struct heap_live_level *last;   // Atomic: the last of these, where nearly all are; or another.
};

struct heap_live_level {
    uint64_t mask; // Places minus one.
    uint64_t reserved[7];
    struct heap_live places[];
};

static inline uint64_t
heap_live_hash(uint32_t site)
{
    return site * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* What heap_live_at does when it does not find SITE at once. */
struct heap_live *heap_live_find(struct heap_lives *l, uint32_t site);

/* The entry of SITE if it is in the first place of the last level, where most are; else NULL. */
static inline struct heap_live *
heap_live_first(struct heap_lives *l, uint32_t site)
{
    struct heap_live_level *level = load_acquire(&l->last);
    struct heap_live *p;

    // One that was there reads as none where a handler has forked meanwhile (event/orphan.c).
    if (unlikely(level == NULL))
        return NULL;
    p = &level->places[heap_live_hash(site) & level->mask];
    return likely(load_acquire(&p->site) == site) ? p : NULL;
}

/* The entry of SITE, made if it is new; NULL without memory. */
static inline struct heap_live *
heap_live_at(struct heap_lives *l, uint32_t site)
{
    struct heap_live *p = heap_live_first(l, site);

    return likely(p != NULL) ? p : heap_live_find(l, site);
}

/* The first entry in use from number *I on, and in *I the number after it; NULL after the last. To
 * see all takes as many steps as there are places, which are a few times the sites. */
struct heap_live *heap_live_next(struct heap_lives *l, uint64_t *i);

/* Forget all entries, whose values must be zero by now. */
void heap_live_clear(struct heap_lives *l);

/* SIZE_BYTES of private memory for such tables, zeroed and never given back; NULL if there is
 * none. */
void *heap_memory(size_t size_bytes);

/* Return the SIZE_BYTES of zeroed memory at *PLACE, an atomic pointer; make them if it is NULL, and
 * charge CHARGED_BYTES then. NULL without memory, or if all memory is reserved. */
void *heap_memory_once(void *place, size_t size_bytes, size_t charged_bytes);

#endif

/* heap_fast_path.h: records most events of the program's own heaps inline, on the fast path.
 *
 * As in event.c, all conditions are checked before the first change, so any other event can still
 * take the slow path (heap.c) from its start. An allocation takes the fast path if
 *
 *     - it is one object;
 *     - its stack is in the memo or predicted, and the thread has seen it with this heap's name and
 *       this size class, so that the site is cached;
 *     - the thread's latest object of that site belongs to this heap, so that the counter, the
 *       instance and its live values are cached;
 *     - the counter needs no new bounds.
 *
 * A free takes the fast path if the object has a word in the shadow, and its site is cached in the
 * same way. So two lookups in the thread's own tables replace lookups of the instance, the live
 * values and the thread's counters.
 *
 *     stack, name, size class ──► place ──► site ──► counter, instance, live values
 *                                    address ──► word ──┘
 *
 * One condition cannot be checked in advance: another thread, or a signal handler, may occupy the
 * object's place in the shadow before the store. An object is counted before any thread can find
 * it. So if the place is occupied, the object is already counted, and only its address must be
 * stored elsewhere (HEAP_TO_STORE). */
#ifndef EVENT_HEAP_FAST_PATH_H
#define EVENT_HEAP_FAST_PATH_H

#include "account/count.h"
#include "account/peak.h"
#include "account/recent.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "event/fast_path.h"
#include "event/mode.h"
#include "event/reentry.h"
#include "heaps/heap_instance.h"
#include "heaps/heap_objects.h"
#include "heaps/heap_table.h"
#include "stack/stack.h"

/* A thread's cache of lookups. Zeros = empty; a child that a handler forked sees zeros. */
struct heap_memo {
    /* Cache of sites. The stack, the number of frames to skip, the heap's name and the size class
     * determine the site, so it never changes. */
    struct heap_place {
        uint64_t key;  // 0 = unused.
        uint32_t site; // 0 = unknown.
        uint32_t reserved;
    } places[1 << 10];
    /* Cache of the counter, instance and live values of a site. */
    struct heap_site {
        uint32_t site; // 0 = unused.
        uint32_t reserved;
        struct disk_counter *counter;   // The thread's counter.
        struct heap_instance *instance; // Instance that has the latest object of the site.
        // Live values of the site in that instance; NULL if the instance has none for the site.
        struct heap_live *live;
    } sites[1 << 9];
};
static_assert(sizeof(struct heap_place) == 16 && sizeof(struct heap_site) == 32, "in lines");

enum heap_fast_path {
    HEAP_DONE,
    HEAP_TO_FLUSH, // Recorded. The caller must call peak_flush, then end the event.
    HEAP_TO_STORE, // Counted, but the address is not stored. The event has not ended.
    HEAP_MISS,     // Not recorded; no data was changed.
};

/* Return the cache key for objects of SIZE_CLASS of the heap HANDLE below the node with SITES. */
static inline uint64_t
heap_place_key(const uint32_t *sites, uint64_t handle, uint32_t size_class)
{
    static_assert(offsetof(struct disk_node, site) % 16 == 0 &&
                      sizeof(struct disk_node) % 16 == 0 && HANDLE_INDEX <= 18 &&
                      DISK_SIZE_CLASSES <= 4 && ARCH_ADDRESS_BITS <= 48,
                  "an address of sites ends with bits that are 0, and fits above the rest");
    return (uint64_t)(uintptr_t)sites << 16 | (uint64_t)size_class << HANDLE_INDEX |
           (handle & ((1 << HANDLE_INDEX) - 1));
}

static inline struct heap_place *
heap_place(struct heap_memo *m, uint64_t key)
{
    return &m->places[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % countof(m->places)];
}

static inline struct heap_site *
heap_site(struct heap_memo *m, uint32_t site)
{
    return &m->sites[site % countof(m->sites)];
}

/* Return true if S is the entry for SITE and has the instance H of HANDLE, so that LIVE is valid. H
 * and LIVE were read from S before the call. */
static INLINE bool
heap_site_is(const struct heap_site *s, uint32_t site, uint64_t handle,
             const struct heap_instance *h, const struct heap_live *live)
{
    return likely(s->site == site) && likely(h != NULL) &&
           likely(load_acquire(&h->owner) == handle) &&
           (!heap_has_lives(handle) ||
            (likely(live != NULL) && likely(load_acquire(&live->site) == site)));
}

/* Return true if T owns H. Threads that do not own H change its live values by atomic
 * operations. */
static inline bool
heap_is_own(const struct heap_instance *h, const struct thread *t)
{
    return likely(load_relaxed(&h->thread) == t);
}

/* Return true if events of the program's heaps are not recorded. They are never sampled, so this is
 * the case only while recording is off. */
static inline bool
heap_is_off(void)
{
    return unlikely(load_relaxed(&sample.mode) == DISK_MODE_OFF);
}

/* Return true if the present stack is T's memo, so that its target is t->leaf. */
static inline bool
heap_is_leaf(struct thread *t, struct arch_caller caller)
{
    if (!stack_is_leaf(t, caller))
        return false;
    t->frames_reused += t->leaf.frames;
    return true;
}

/* Count the allocation of P, one object of the heap HANDLE, at the stack of TARGET. On
 * HEAP_TO_STORE, describe the object in *RET_BLOCK. FINE: the object has at most HEAP_FINE_BYTES.
 * Requires an event that has begun, and ends it only on HEAP_DONE. */
static INLINE enum heap_fast_path
heap_fast_path_alloc(struct thread *t, uint64_t handle, const void *p, uint64_t size_bytes,
                     const struct stack_target *target, bool fine, struct heap_block *ret_block)
{
    uint64_t key = heap_place_key(target->sites, handle, disk_size_class(size_bytes));
    const struct heap_place *place;
    const struct heap_site *s;
    struct heap_block b = {.count = 1, .size_bytes = size_bytes};
    struct heap_instance *h;
    struct disk_counter *c;
    struct heap_live *live;

    if (unlikely(t->heaps == NULL) || unlikely((place = heap_place(t->heaps, key))->key != key))
        return HEAP_MISS;
    s = heap_site(t->heaps, b.site = place->site);
    h = s->instance;
    live = s->live;
    c = s->counter;
    if (unlikely(!heap_site_is(s, b.site, handle, h, live)) || unlikely(c == NULL) ||
        unlikely(!count_is_within(c, size_bytes)) || unlikely(!peak_prepares_alloc(t, c)))
        return HEAP_MISS;
    t->countdown--;
    bump(&c->allocations);
    bump_by(&c->allocated_bytes, size_bytes);
    if (heap_has_lives(handle))
        heap_live_add(live, heap_is_own(h, t), 1, (int64_t)size_bytes);
    b.birth = recent_begins(t, p, b.site);
    if (p != NULL && unlikely(!(fine ? heap_objects_insert_first(&h->objects, p, b)
                                     : heap_objects_insert_coarse(&h->objects, p, b)))) {
        *ret_block = b;
        return HEAP_TO_STORE;
    }
    if (unlikely(!peak_keeps(t, (int64_t)size_bytes)))
        return HEAP_TO_FLUSH;
    reentry_leave();
    return HEAP_DONE;
}

/* Count the end of P of the heap HANDLE, whose word is at PLACE in LEAF of TIER. Requires an event
 * that has begun, and ends it only on HEAP_DONE. */
static INLINE enum heap_fast_path
heap_fast_path_free_at(struct thread *t, uint64_t handle, const void *p, uint32_t tier,
                       struct heap_leaf *leaf, uint64_t *place)
{
    uintptr_t address = (uintptr_t)p;
    const struct heap_site *s;
    struct heap_instance *h;
    struct disk_counter *c;
    struct heap_live *live;
    struct heap_block b;
    uint64_t word;

    if (unlikely(t->heaps == NULL))
        return HEAP_MISS;
    word = load_relaxed(place);
    s = heap_site(t->heaps, b.site = (uint32_t)word & LEDGER_SITE_MASK);
    h = s->instance;
    live = s->live;
    c = s->counter;
    if (unlikely(!heap_site_is(s, b.site, handle, h, live)) || unlikely(c == NULL) ||
        unlikely(!heap_word_is(tier, word, heap_region(leaf, tier, address),
                               load_relaxed(&h->objects.claim), address)) ||
        unlikely(heap_word_is_wide(tier, word)) ||
        unlikely(!peak_prepares_free(t, c)))
        return HEAP_MISS;
    t->countdown--;
    store_relaxed(place, UINT64_C(0));
    b = heap_word_says(tier, word);
    if (heap_has_lives(handle))
        heap_live_add(live, heap_is_own(h, t), -(int64_t)b.count, -(int64_t)b.size_bytes);
    bump_by(&c->frees, b.count);
    bump_by(&c->freed_bytes, b.size_bytes);
    recent_ends(t, c, p, b.site, (uint8_t)b.birth, b.count);
    if (unlikely(!peak_keeps(t, -(int64_t)b.size_bytes)))
        return HEAP_TO_FLUSH;
    reentry_leave();
    return HEAP_DONE;
}

/* Like heap_fast_path_free_at, for an object in the first tier, which has most of the objects. */
static INLINE enum heap_fast_path
heap_fast_path_free(struct thread *t, uint64_t handle, const void *p)
{
    struct heap_leaf *leaf = heap_leaf(0, (uintptr_t)p);
    uint64_t *place;

    if (unlikely(leaf == NULL) ||
        unlikely((place = heap_objects_at(leaf, 0, (uintptr_t)p)) == NULL))
        return HEAP_MISS;
    return heap_fast_path_free_at(t, handle, p, 0, leaf, place);
}

#endif

/* heap_ordinary.h: the short way of the events of a program's own heaps that come all the time.
 *
 * As in ordinary.h: all that could stand in the way is found out before anything is changed, and
 * what is not ordinary takes the general way (heap.c) as if nothing had been. An allocation is
 * ordinary if it is of one object, whose stack the thread remembers or foresees and has had before
 * with this heap's name and this size class, so that the site is known; if this heap's was the
 * latest object of that site here, so that what there is to count in is known; and if the counter
 * needs no new bounds. A free is ordinary if the object has a word in the shadow, and its site
 * is known likewise. So two lookups in tables of the thread's own find all: none of the heap's
 * instance, of its live values, of the thread's counters.
 *
 *     stack, name, size class ──► place ──► site ──► counter, instance, live values
 *                                    address ──► word ──┘
 *
 * Only where an object is kept is not found out before: another thread, or a signal handler, may
 * take the place meanwhile. An object is counted before anybody can find it, so what cannot be put
 * where it should be is counted already, and put elsewhere (HEAP_TO_KEEP).
 */
#ifndef EVENT_HEAP_ORDINARY_H
#define EVENT_HEAP_ORDINARY_H

#include "account/count.h"
#include "account/heap_instance.h"
#include "account/heap_objects.h"
#include "account/heap_table.h"
#include "account/peak.h"
#include "account/recent.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "event/enter.h"
#include "event/ordinary.h"
#include "event/way.h"
#include "stack/stack.h"

/* What a thread has found before. All zero is nothing; a handler that has forked leaves zeros. */
struct heap_memo {
    /* The site follows from the stack, how many frames are to be skipped, the heap's name and the
     * size class, and never changes. */
    struct heap_place {
        uint64_t key;  // 0 = unused.
        uint32_t site; // 0 = not known.
        uint32_t reserved;
    } places[1 << 10];
    /* Where a site is counted. */
    struct heap_site {
        uint32_t site; // 0 = unused.
        uint32_t reserved;
        struct disk_counter *counter;   // Of the thread.
        struct heap_instance *instance; // With the latest object of that site.
        struct heap_live *live;         // What lives in it there; NULL if it lasts.
    } sites[1 << 9];
};
static_assert(sizeof(struct heap_place) == 16 && sizeof(struct heap_site) == 32, "in lines");

enum heap_ordinary {
    HEAP_DONE,
    HEAP_TO_SETTLE, // Done but for peak_settle, after which tls.busy must be cleared.
    HEAP_TO_KEEP,   // Only the object itself has not been kept; tls.busy is still set.
    HEAP_NOT,       // Nothing was done.
};

/* The key of objects of SIZE_CLASS of the heap HANDLE below the node with SITES. */
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

/* Is S that of SITE, with the instance H of HANDLE and LIVE in it? All of S's have been read. */
static INLINE bool
heap_site_is(const struct heap_site *s, uint32_t site, uint64_t handle,
             const struct heap_instance *h, const struct heap_live *live)
{
    return likely(s->site == site) && likely(h != NULL) &&
           likely(load_acquire(&h->owner) == handle) &&
           (!heap_has_lives(handle) ||
            (likely(live != NULL) && likely(load_acquire(&live->site) == site)));
}

/* Is T the thread that H belongs to? Others add to what lives in it by atomic operations. */
static inline bool
heap_is_own(const struct heap_instance *h, const struct thread *t)
{
    return likely(load_relaxed(&h->thread) == t);
}

/* What stands for an object of SITE among the thread's latest blocks, beside its
 * address: recent.h. */
static inline uint32_t
heap_recent_entry(uint32_t site)
{
    return site;
}

/* Is what a program says of its heaps left out? Only whether anything is recorded counts: it is
 * never a matter of chance. */
static inline bool
heap_is_off(void)
{
    return unlikely(load_relaxed(&sample.mode) == DISK_MODE_OFF);
}

/* Is the present stack the one that T remembers? Its target is t->leaf. */
static inline bool
heap_is_leaf(struct thread *t, struct arch_caller caller)
{
    if (!stack_is_leaf(t, caller))
        return false;
    t->frames_reused += t->leaf.frames;
    return true;
}

/* Count P, one object of the heap HANDLE with the stack of TARGET; *RET_BLOCK is what it is. The
 * event has begun, and goes on unless it is done. */
static INLINE enum heap_ordinary
heap_ordinary_alloc(struct thread *t, uint64_t handle, const void *p, uint64_t size_bytes,
                    const struct stack_target *target, struct heap_block *ret_block)
{
    uint64_t key = heap_place_key(target->sites, handle, disk_size_class(size_bytes));
    const struct heap_place *place;
    const struct heap_site *s;
    struct heap_block b = {.count = 1, .size_bytes = size_bytes};
    struct heap_instance *h;
    struct disk_counter *c;
    struct heap_live *live;

    if (unlikely(t->heaps == NULL) || unlikely((place = heap_place(t->heaps, key))->key != key))
        return HEAP_NOT;
    s = heap_site(t->heaps, b.site = place->site);
    h = s->instance;
    live = s->live;
    c = s->counter;
    if (unlikely(!heap_site_is(s, b.site, handle, h, live)) || unlikely(c == NULL) ||
        unlikely(!count_is_within(c, size_bytes)) || unlikely(!peak_prepares_alloc(t, c)))
        return HEAP_NOT;
    t->countdown--;
    bump(&c->allocations);
    bump_by(&c->allocated_bytes, size_bytes);
    if (heap_has_lives(handle))
        heap_live_add(live, heap_is_own(h, t), 1, (int64_t)size_bytes);
    b.birth = recent_begins(t, p, heap_recent_entry(b.site));
    if (p != NULL && unlikely(!heap_objects_insert_first(&h->objects, p, b))) {
        *ret_block = b;
        return HEAP_TO_KEEP;
    }
    if (unlikely(!peak_keeps(t, (int64_t)size_bytes)))
        return HEAP_TO_SETTLE;
    enter_ends();
    return HEAP_DONE;
}

/* Count the end of P of the heap HANDLE, whose word is at PLACE in LEAF of TIER. The event has
 * begun, and goes on unless it is done. */
static INLINE enum heap_ordinary
heap_ordinary_free_at(struct thread *t, uint64_t handle, const void *p, uint32_t tier,
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
        return HEAP_NOT;
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
        return HEAP_NOT;
    t->countdown--;
    store_relaxed(place, UINT64_C(0));
    b = heap_word_says(tier, word);
    if (heap_has_lives(handle))
        heap_live_add(live, heap_is_own(h, t), -(int64_t)b.count, -(int64_t)b.size_bytes);
    bump_by(&c->frees, b.count);
    bump_by(&c->freed_bytes, b.size_bytes);
    recent_ends(t, c, p, heap_recent_entry(b.site), (uint8_t)b.birth, b.count);
    if (unlikely(!peak_keeps(t, -(int64_t)b.size_bytes)))
        return HEAP_TO_SETTLE;
    enter_ends();
    return HEAP_DONE;
}

/* The same if P is in the first tier, where most objects are. */
static INLINE enum heap_ordinary
heap_ordinary_free(struct thread *t, uint64_t handle, const void *p)
{
    struct heap_leaf *leaf = heap_leaf(0, (uintptr_t)p);
    uint64_t *place;

    if (unlikely(leaf == NULL) ||
        unlikely((place = heap_objects_at(leaf, 0, (uintptr_t)p)) == NULL))
        return HEAP_NOT;
    return heap_ordinary_free_at(t, handle, p, 0, leaf, place);
}

#endif

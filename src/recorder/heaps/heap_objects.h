/* heap_objects.h: stores the objects of the program's own heaps by address; see heap_objects.c.
 * This header has the code that nearly every event needs.
 *
 * All functions are thread-safe and async-signal-safe. */
#ifndef HEAPS_HEAP_OBJECTS_H
#define HEAPS_HEAP_OBJECTS_H

#include "base/atomics.h"
#include "base/base.h"
#include "heaps/heap_claims.h"
#include "heaps/heap_instance.h"
#include "heaps/heap_table.h"
#include "heaps/heaps_state.h"
#include "ledger/ledger_entry.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"

enum {
    HEAP_TIERS = 5,
    HEAP_LEAF_BITS = 18, // Log2 of the number of granules of a leaf.
    HEAP_REGION_WORDS = 64,
    // A page has one way at first. Group I adds 1 << I ways when the ways before it are full.
    HEAP_WAY_GROUPS = 6,
    HEAP_WAYS = 1 << HEAP_WAY_GROUPS,
    HEAP_PAGE_BYTES = 4096,
    HEAP_LINE_BITS = 3, // Log2 of the number of words in a cache line.
    HEAP_PAGE_LINES = 64,
    HEAP_FINE_BYTES = 112, // Maximum size in bytes of objects in the first tier; larger ones go to
                           // a coarser tier.
    // Layout of an object's word, from the lowest bit up. A used word is never 0, because its site
    // is not 0.
    HEAP_WORD_BIRTH = LEDGER_SITE_BITS,
    HEAP_WORD_CLAIM = HEAP_WORD_BIRTH + 8,
    HEAP_WORD_SUB = HEAP_WORD_CLAIM + 3, // Shift of the offset in the granule; count and size
                                         // follow.
};
static_assert(HEAP_CLAIMS <= 8, "a word");

/* Return the log2 of a tier's granule size in bytes. The functions below return the widths of a
 * word's fields in bits. */
static inline uint32_t
heap_granule_bits(uint32_t tier)
{
    return 6 + 2 * tier;
}

static inline uint32_t
heap_count_bits(uint32_t tier)
{
    return tier < HEAP_TIERS - 1 ? 6 : 2;
}

static inline uint32_t
heap_word_bytes_shift(uint32_t tier)
{
    return HEAP_WORD_SUB + heap_granule_bits(tier) + heap_count_bits(tier);
}

/* Return the value of the size field if count and size are in the table. */
static inline uint64_t
heap_word_bytes_max(uint32_t tier)
{
    return (UINT64_C(1) << (64 - heap_word_bytes_shift(tier))) - 1;
}

/* The objects that begin in 64 neighbouring granules. */
struct heap_region {
    uint64_t claims[HEAP_CLAIMS]; // Atomic: claims of instances, or HEAP_CLAIM_BUSY; 0 = free.
    // Atomic. In the first tier: a bit per granule, set if an object of another tier may begin
    // there. In the last tier: the claim of the instance whose table has objects without a word
    // that begin here; HEAP_CLAIM_SEVERAL = several instances; 0 = none.
    uint64_t other_tier;
    uint32_t ways; // Atomic: number of ways in use beyond the first.
    uint32_t reserved;
};
static_assert(sizeof(struct heap_region) == 64, "a line of the cache");

struct heap_leaf {
    uint64_t *further[HEAP_WAY_GROUPS]; // Atomic; NULL = not allocated.
    // Atomic: a bit for each page that was charged (mem_charge): the pages of the regions, then the
    // pages of each way.
    uint64_t region_pages[1];
    uint64_t pages[HEAP_WAYS][8];
    struct heap_region regions[1 << HEAP_LEAF_BITS >> 6] __attribute__((aligned(HEAP_PAGE_BYTES)));
    uint64_t first[1 << HEAP_LEAF_BITS]; // Atomic.
};
static_assert(sizeof(struct heap_region) * (1 << HEAP_LEAF_BITS >> 6) / HEAP_PAGE_BYTES == 64 &&
                  sizeof(uint64_t) * (1 << HEAP_LEAF_BITS) / HEAP_PAGE_BYTES == 8 * 64,
              "a bit for each page");

/* Insert block B at P, not NULL. If a block was still live at P, store it in *RET_OLD; otherwise
 * set the site of *RET_OLD to 0. Return false if memory is exhausted, or if P is not an address. */
bool heap_objects_insert_slow(struct heap_objects *o, const void *p, struct heap_block b,
                              struct heap_block *ret_old);

/* Insert B, larger than HEAP_FINE_BYTES, at P, not NULL, if this needs no new memory and all
 * objects of O are in the tier for that size. Otherwise have no effect and return false; the caller
 * must then call heap_objects_insert_slow. */
bool heap_objects_insert_coarse(struct heap_objects *o, const void *p, struct heap_block b);

/* Remove the block at P and return it. Its site is 0 if there was none. */
struct heap_block heap_objects_remove_slow(struct heap_objects *o, const void *p);

/* Remove all blocks, in a time that does not depend on their number. */
void heap_objects_empty(struct heap_objects *o);

/* Return the finest tier whose granule is not much shorter than an object of SIZE_BYTES. */
static inline uint32_t
heap_tier_of_size(uint64_t size_bytes)
{
    uint32_t tier;

    if (size_bytes <= HEAP_FINE_BYTES)
        return 0;
    // The limit of each tier is four times that of the tier before.
    tier = (65 - (uint32_t)__builtin_clzll((size_bytes - 1) / HEAP_FINE_BYTES)) / 2;
    return tier < HEAP_TIERS - 1 ? tier : HEAP_TIERS - 1;
}

static inline struct heap_leaf *
heap_leaf(uint32_t tier, uintptr_t address)
{
    struct heap_leaf **top = load_acquire(&heaps_state()->heap_shadow[tier]);

    if (unlikely(address >> ARCH_ADDRESS_BITS) || unlikely(top == NULL))
        return NULL;
    return load_acquire(&top[address >> heap_granule_bits(tier) >> HEAP_LEAF_BITS]);
}

static inline struct heap_region *
heap_region(struct heap_leaf *leaf, uint32_t tier, uintptr_t address)
{
    return &leaf->regions[address >> heap_granule_bits(tier) >> 6 & (countof(leaf->regions) - 1)];
}

/* Return the number of the page, within a way, that contains the words of the granule at
 * ADDRESS. */
static inline uint32_t
heap_page_of_words(uint32_t tier, uintptr_t address)
{
    return address >> heap_granule_bits(tier) >> 9 & 511;
}

static inline bool
heap_page_is_begun(const uint64_t *bits, uint32_t page)
{
    return load_acquire(&bits[page / 64]) >> page % 64 & 1;
}

/* Return true if the region at ADDRESS and its first words were charged. If not, their memory is
 * zero and must not even be read: the kernel counts a page that was read as resident. */
static inline bool
heap_is_begun(const struct heap_leaf *leaf, uint32_t tier, uintptr_t address)
{
    return heap_page_is_begun(leaf->pages[0], heap_page_of_words(tier, address));
}

/* Return the word in WAY for the granule at ADDRESS. Requires a region that has this way. */
static inline uint64_t *
heap_word(struct heap_leaf *leaf, uint32_t tier, uint32_t way, uintptr_t address)
{
    size_t granule = address >> heap_granule_bits(tier) & (countof(leaf->first) - 1);
    uint64_t *further;
    uint32_t group;

    if (likely(way == 0))
        return &leaf->first[granule];
    group = 31 - (uint32_t)__builtin_clz(way);
    further = load_acquire(&leaf->further[group]);
    // If a handler has forked in the meantime, the region has one way in the child.
    if (unlikely(further == NULL))
        return &leaf->first[granule];
    // Spread the words over the cache: the arrays of the ways are a power of two apart, so all
    // words of one granule would share a set of the cache.
    granule ^= (size_t)(way % HEAP_PAGE_LINES) << HEAP_LINE_BITS;
    return &further[(size_t)(way - (1u << group)) << HEAP_LEAF_BITS | granule];
}

static inline uint64_t
heap_word_of(uint32_t tier, uintptr_t address, struct heap_block b, uint64_t claim)
{
    uint32_t granule_bits = heap_granule_bits(tier);

    return b.site | (uint64_t)b.birth << HEAP_WORD_BIRTH | claim << HEAP_WORD_CLAIM |
           (uint64_t)(address & ((UINT64_C(1) << granule_bits) - 1)) << HEAP_WORD_SUB |
           b.count << (HEAP_WORD_SUB + granule_bits) |
           b.size_bytes << heap_word_bytes_shift(tier);
}

static inline struct heap_block
heap_word_says(uint32_t tier, uint64_t word)
{
    return (struct heap_block){
        .site = (uint32_t)word & LEDGER_SITE_MASK,
        .birth = word >> HEAP_WORD_BIRTH & 0xff,
        .count = word >> (HEAP_WORD_SUB + heap_granule_bits(tier)) &
                 ((1u << heap_count_bits(tier)) - 1),
        .size_bytes = word >> heap_word_bytes_shift(tier),
    };
}

/* Return true if the count and size of WORD's object are in the table. */
static inline bool
heap_word_is_wide(uint32_t tier, uint64_t word)
{
    return word >> heap_word_bytes_shift(tier) == heap_word_bytes_max(tier);
}

/* Return true if B fits into a word. */
static inline bool
heap_word_fits(uint32_t tier, struct heap_block b)
{
    return likely(b.size_bytes < heap_word_bytes_max(tier)) &&
           likely(b.count < 1u << heap_count_bits(tier));
}

/* Return the number of WORD's claim in its region. */
static inline uint32_t
heap_word_claim(uint64_t word)
{
    return word >> HEAP_WORD_CLAIM & 7;
}

/* Return true if WORD's object begins at ADDRESS. */
static inline bool
heap_word_is_at(uint32_t tier, uint64_t word, uintptr_t address)
{
    uintptr_t mask = ((uintptr_t)1 << heap_granule_bits(tier)) - 1;

    return likely(word != 0) && likely(((word >> HEAP_WORD_SUB ^ address) & mask) == 0);
}

/* Return true if WORD of REGION is an object at ADDRESS and belongs to the instance with CLAIM.
 * Return false for a word of 0, because its site is 0. */
static inline bool
heap_word_is(uint32_t tier, uint64_t word, const struct heap_region *region, uint64_t claim,
             uintptr_t address)
{
    return heap_word_is_at(tier, word, address) &&
           likely(load_acquire(&region->claims[heap_word_claim(word)]) == claim);
}

/* Replace CURRENT by WORD at PLACE in REGION. CLAIM is WORD's claim. Return false if another thread
 * has changed the word at PLACE or removed the claim. */
static inline bool
heap_word_put(uint64_t *place, uint64_t current, const struct heap_region *region, uint64_t word,
              uint64_t claim)
{
    if (likely(!load_relaxed(&state->multi)))
        return likely(arch_cas_alone(place, &current, word));
    if (unlikely(!cas_seq_cst(place, &current, word)))
        return false;
    // Paired with take_stale: either take_stale sees the word, or this thread sees that the claim
    // is gone.
    if (likely(load_seq_cst(&region->claims[heap_word_claim(word)]) == claim))
        return true;
    cas_seq_cst(place, &word, UINT64_C(0));
    return false;
}

/* Return the number of CLAIM, which belongs to O, in REGION, or HEAP_CLAIMS if it is missing. Try
 * the number in the region used before first, because it is mostly the same. */
static inline uint32_t
heap_claim_number(struct heap_objects *o, const struct heap_region *region, uint64_t claim)
{
    uint32_t number = load_relaxed(&o->number);

    if (likely(load_acquire(&region->claims[number]) == claim))
        return number;
    for (number = 0; number < HEAP_CLAIMS; number++)
        if (load_acquire(&region->claims[number]) == claim) {
            store_relaxed(&o->number, number);
            break;
        }
    return number;
}

/* Return true if CURRENT, a word of REGION, is free: it is 0, or the instance with CLAIM stored it
 * before its latest reset. */
static inline bool
heap_word_is_free(uint64_t current, const struct heap_region *region, uint64_t claim)
{
    uint64_t of;

    if (current == 0)
        return true;
    of = load_acquire(&region->claims[heap_word_claim(current)]);
    return of != claim && of >> HEAP_CLAIM_TURN_BITS == claim >> HEAP_CLAIM_TURN_BITS;
}

/* Return the place of the first object of any instance at ADDRESS in a tier. Return NULL if there
 * is none. */
static INLINE uint64_t *
heap_objects_at(struct heap_leaf *leaf, uint32_t tier, uintptr_t address)
{
    uint64_t *place = heap_word(leaf, tier, 0, address);
    uint32_t ways;

    if (unlikely(!heap_is_begun(leaf, tier, address)))
        return NULL;
    if (likely(heap_word_is_at(tier, load_relaxed(place), address)))
        return place;
    ways = load_acquire(&heap_region(leaf, tier, address)->ways);
    for (uint32_t way = 1; way <= ways; way++) {
        place = heap_word(leaf, tier, way, address);
        if (heap_word_is_at(tier, load_relaxed(place), address))
            return place;
    }
    return NULL;
}

/* Return a free place for an object at ADDRESS in a tier. Return NULL if no way in use has a free
 * place, or if the instance with CLAIM has an object at ADDRESS. */
static INLINE uint64_t *
heap_objects_free_place(struct heap_leaf *leaf, uint32_t tier, const struct heap_region *region,
                        uintptr_t address, uint64_t claim)
{
    uint64_t *place = heap_word(leaf, tier, 0, address), *free;
    uint32_t ways = load_acquire(&region->ways);

    free = heap_word_is_free(load_relaxed(place), region, claim) ? place : NULL;
    if (likely(ways == 0))
        return free;
    for (uint32_t way = 0; way <= ways; way++) {
        place = heap_word(leaf, tier, way, address);
        if (heap_word_is(tier, load_relaxed(place), region, claim, address))
            return NULL;
        if (free == NULL && heap_word_is_free(load_relaxed(place), region, claim))
            free = place;
    }
    return free;
}

/* Fast path: insert B at P, not NULL, in the first tier. If this is impossible, have no effect and
 * return false; the caller must then call heap_objects_insert_slow. */
static INLINE bool
heap_objects_insert_first(struct heap_objects *o, const void *p, struct heap_block b)
{
    uintptr_t address = (uintptr_t)p;
    uint64_t claim = load_relaxed(&o->claim), *place, current;
    const struct heap_region *region;
    struct heap_leaf *leaf;
    uint32_t number;

    static_assert(HEAP_FINE_BYTES < (1 << (64 - HEAP_WORD_SUB - 6 - 6)) - 1, "it fits in a word");
    if (unlikely(b.size_bytes > HEAP_FINE_BYTES) || unlikely(b.count >= 1u << heap_count_bits(0)) ||
        unlikely((leaf = heap_leaf(0, address)) == NULL) ||
        unlikely(!heap_is_begun(leaf, 0, address)))
        return false;
    region = heap_region(leaf, 0, address);
    number = heap_claim_number(o, region, claim);
    if (unlikely(number == HEAP_CLAIMS))
        return false;
    // Another tier may have an older object at this address, whose end was not seen.
    if (unlikely((load_relaxed(&region->other_tier) >>
                      (address >> heap_granule_bits(0) & (HEAP_REGION_WORDS - 1)) & 1) |
                 load_relaxed(&o->untracked)))
        return false;
    place = heap_objects_free_place(leaf, 0, region, address, claim);
    if (unlikely(place == NULL))
        return false;
    current = load_relaxed(place);
    return likely(heap_word_is_free(current, region, claim)) &&
           heap_word_put(place, current, region, heap_word_of(0, address, b, number), claim);
}

/* Fast path of heap_objects_insert_slow, with the same contract. */
static INLINE bool
heap_objects_insert(struct heap_objects *o, const void *p, struct heap_block b,
                    struct heap_block *ret_old)
{
    ret_old->site = 0;
    return likely(heap_objects_insert_first(o, p, b)) ||
           heap_objects_insert_slow(o, p, b, ret_old);
}

/* Fast path of heap_objects_remove_slow, with the same contract. */
static INLINE struct heap_block
heap_objects_remove(struct heap_objects *o, const void *p)
{
    uintptr_t address = (uintptr_t)p;
    struct heap_leaf *leaf = heap_leaf(0, address);
    uint64_t *place = likely(leaf != NULL) ? heap_objects_at(leaf, 0, address) : NULL, word;

    if (unlikely(place == NULL))
        return heap_objects_remove_slow(o, p);
    word = load_relaxed(place);
    if (unlikely(!heap_word_is(0, word, heap_region(leaf, 0, address), load_relaxed(&o->claim),
                               address)) ||
        unlikely(heap_word_is_wide(0, word)))
        return heap_objects_remove_slow(o, p);
    store_relaxed(place, UINT64_C(0));
    return heap_word_says(0, word);
}

#endif

/* heap_objects.h: which objects one of the program's own heaps holds, by address; see
 * heap_objects.c. What nearly every event needs is here.
 *
 * All of these may be called by several threads at once and in signal handlers. */
#ifndef ACCOUNT_HEAP_OBJECTS_H
#define ACCOUNT_HEAP_OBJECTS_H

#include "account/heap_instance.h"
#include "account/heap_table.h"
#include "account/ledger_entry.h"
#include "base/atomics.h"
#include "base/base.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"

enum {
    HEAP_SPAN_BITS = 24, // Of addresses, for each leaf,
    HEAP_REGION_BITS = 12,
    HEAP_GRANULE_BITS = 5,
    HEAP_REGION_WORDS = 1 << (HEAP_REGION_BITS - HEAP_GRANULE_BITS),
    HEAP_CLAIMS = 6,
    HEAP_SHADOWED_BYTES = 512, // What is larger is in a table: there is room for it, and few.
    HEAP_SHADOWED_COUNT = 63,
    // An object's word, from the lowest bit on. Its site is not 0, so no word is.
    HEAP_WORD_BIRTH = LEDGER_SITE_BITS,
    HEAP_WORD_SUB = HEAP_WORD_BIRTH + 8, // Where in the granule it begins.
    HEAP_WORD_CLAIM = HEAP_WORD_SUB + HEAP_GRANULE_BITS,
    HEAP_WORD_COUNT = HEAP_WORD_CLAIM + 3,
    HEAP_WORD_BYTES = HEAP_WORD_COUNT + 6,
};
static_assert(HEAP_SHADOWED_BYTES < 1 << (64 - HEAP_WORD_BYTES) && HEAP_CLAIMS <= 8, "a word");

/* Whose objects begin in 4 KiB of address space. */
struct heap_region {
    uint64_t claims[HEAP_CLAIMS]; // Atomic: of instances; 0 = free, HEAP_CLAIM_BUSY.
    // Atomic: the claim whose table has objects that begin here; 0 = none, HEAP_CLAIM_SEVERAL.
    uint64_t tabled;
    uint64_t second; // Atomic: 1 if second words have been used.
};
static_assert(sizeof(struct heap_region) == 64, "a line of the cache");

/* No instance's: somebody is about to wipe words; there have been several. */
#define HEAP_CLAIM_BUSY UINT64_C(1)
#define HEAP_CLAIM_SEVERAL UINT64_C(2)

struct heap_leaf {
    uint64_t words[2][1 << (HEAP_SPAN_BITS - HEAP_GRANULE_BITS)]; // Atomic.
    struct heap_region regions[1 << (HEAP_SPAN_BITS - HEAP_REGION_BITS)];
};

/* Remember block B at P, not NULL. *RET_OLD gets the block that was still there, with site 0 if
 * there was none. False: no memory, or no such address. */
bool heap_objects_insert_slowly(struct heap_objects *o, const void *p, struct heap_block b,
                                struct heap_block *ret_old);

/* Take out the block at P and return it; its site is 0 if there is none. */
struct heap_block heap_objects_remove_slowly(struct heap_objects *o, const void *p);

/* Forget all blocks. It takes no longer if there are many. */
void heap_objects_empty(struct heap_objects *o);

static inline struct heap_leaf *
heap_leaf(uintptr_t address)
{
    struct heap_leaf **top = load_acquire(&state->heap_shadow);

    if (unlikely(address >> ARCH_ADDRESS_BITS) || unlikely(top == NULL))
        return NULL;
    return load_acquire(&top[address >> HEAP_SPAN_BITS]);
}

static inline struct heap_region *
heap_region(struct heap_leaf *leaf, uintptr_t address)
{
    return &leaf->regions[address >> HEAP_REGION_BITS & (countof(leaf->regions) - 1)];
}

/* The first or second word of the granule at ADDRESS. */
static inline uint64_t *
heap_word(struct heap_leaf *leaf, uint32_t which, uintptr_t address)
{
    return &leaf->words[which][address >> HEAP_GRANULE_BITS & (countof(leaf->words[0]) - 1)];
}

static inline uint64_t
heap_word_of(uintptr_t address, struct heap_block b, uint64_t claim)
{
    return b.site | (uint64_t)b.birth << HEAP_WORD_BIRTH |
           (uint64_t)(address & ((1 << HEAP_GRANULE_BITS) - 1)) << HEAP_WORD_SUB |
           claim << HEAP_WORD_CLAIM | b.count << HEAP_WORD_COUNT |
           b.size_bytes << HEAP_WORD_BYTES;
}

static inline struct heap_block
heap_word_says(uint64_t word)
{
    return (struct heap_block){
        .site = (uint32_t)word & LEDGER_SITE_MASK,
        .birth = word >> HEAP_WORD_BIRTH & 0xff,
        .count = word >> HEAP_WORD_COUNT & HEAP_SHADOWED_COUNT,
        .size_bytes = word >> HEAP_WORD_BYTES,
    };
}

/* Does it fit into a word? */
static inline bool
heap_word_holds(struct heap_block b)
{
    return likely(b.size_bytes <= HEAP_SHADOWED_BYTES) && likely(b.count <= HEAP_SHADOWED_COUNT);
}

/* By number among the claims of a region. */
static inline uint32_t
heap_word_claim(uint64_t word)
{
    return word >> HEAP_WORD_CLAIM & 7;
}

/* Is WORD, which is of REGION, that of an object at ADDRESS of the instance with CLAIM? A word of 0
 * is none: its site, at least, is not. */
static inline bool
heap_word_is(uint64_t word, const struct heap_region *region, uint64_t claim, uintptr_t address)
{
    return likely(word != 0) &&
           likely(((word >> HEAP_WORD_SUB ^ address) & ((1 << HEAP_GRANULE_BITS) - 1)) == 0) &&
           likely(load_acquire(&region->claims[heap_word_claim(word)]) == claim);
}

/* WORD, whose claim is CLAIM, comes to PLACE of REGION, in which THERE is. */
static inline bool
heap_word_put(uint64_t *place, uint64_t there, const struct heap_region *region, uint64_t word,
              uint64_t claim)
{
    if (likely(!load_relaxed(&state->multi)))
        return likely(arch_cas_alone(place, &there, word));
    if (unlikely(!cas_seq_cst(place, &there, word)))
        return false;
    // Paired with take_stale: either it sees the word, or we see that the claim has gone.
    if (likely(load_seq_cst(&region->claims[heap_word_claim(word)]) == claim))
        return true;
    cas_seq_cst(place, &word, UINT64_C(0));
    return false;
}

/* The number of CLAIM, that of O, in REGION; HEAP_CLAIMS if it has none. Nearly always it is the
 * one that it had in the region before. */
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

/* Is THERE, a word of REGION, none, or what an instance has left that was emptied since and has
 * CLAIM now? */
static inline bool
heap_word_is_free(uint64_t there, const struct heap_region *region, uint64_t claim)
{
    uint64_t of;

    if (there == 0)
        return true;
    of = load_acquire(&region->claims[heap_word_claim(there)]);
    return of != claim && of >> HEAP_CLAIM_TURN_BITS == claim >> HEAP_CLAIM_TURN_BITS;
}

/* Remember B at P, not NULL, in the first word of its granule. False: nothing was done, and
 * heap_objects_insert_slowly is to be called. */
static INLINE bool
heap_objects_insert_first(struct heap_objects *o, const void *p, struct heap_block b)
{
    uintptr_t address = (uintptr_t)p;
    struct heap_leaf *leaf = heap_leaf(address);
    uint64_t claim = load_relaxed(&o->claim), *place, there;
    const struct heap_region *region;
    uint32_t number;

    if (unlikely(leaf == NULL) || unlikely(!heap_word_holds(b)))
        return false;
    region = heap_region(leaf, address);
    number = heap_claim_number(o, region, claim);
    if (unlikely(number == HEAP_CLAIMS))
        return false;
    // An object that was here and whose end went unseen may be in the table or the second word.
    if (unlikely((load_relaxed(&region->tabled) | load_relaxed(&region->second) |
                  load_relaxed(&o->untold)) != 0) &&
        ((load_relaxed(&region->tabled) | load_relaxed(&o->untold)) != 0 ||
         load_relaxed(heap_word(leaf, 1, address)) != 0))
        return false;
    place = heap_word(leaf, 0, address);
    there = load_relaxed(place);
    return likely(heap_word_is_free(there, region, claim)) &&
           heap_word_put(place, there, region, heap_word_of(address, b, number), claim);
}

/* See heap_objects_insert_slowly. */
static INLINE bool
heap_objects_insert(struct heap_objects *o, const void *p, struct heap_block b,
                    struct heap_block *ret_old)
{
    ret_old->site = 0;
    return likely(heap_objects_insert_first(o, p, b)) ||
           heap_objects_insert_slowly(o, p, b, ret_old);
}

/* See heap_objects_remove_slowly. */
static INLINE struct heap_block
heap_objects_remove(struct heap_objects *o, const void *p)
{
    uintptr_t address = (uintptr_t)p;
    struct heap_leaf *leaf = heap_leaf(address);
    uint64_t *place, word;

    if (unlikely(leaf == NULL))
        return heap_objects_remove_slowly(o, p);
    place = heap_word(leaf, 0, address);
    word = load_relaxed(place);
    if (unlikely(!heap_word_is(word, heap_region(leaf, address), load_relaxed(&o->claim), address)))
        return heap_objects_remove_slowly(o, p);
    store_relaxed(place, UINT64_C(0));
    return heap_word_says(word);
}

#endif

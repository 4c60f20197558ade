/* heap_sparse.c: stores objects of the program's own heaps that are far apart.
 *
 * The shadow (heap_objects.c) has a word for every granule, so it wastes most of a page where
 * objects are far apart or at random distances. In this file only objects need memory: an entry has
 * 12 bytes, and a cache line contains five entries and the number of the next line. A region of the
 * address space has four chains of such lines. A hash of the address selects the chain.
 *
 *     address ──► level ──► directory ──► region ──► chain: line ──► line
 *
 *     region   6 claims of 8 bytes | 4 numbers of lines
 *     line     5 keys of 4 bytes | number of the next | 5 words of 8 bytes
 *
 *     key      1 | claim (3 bits) | offset in the region (28)      0 = free, KEY_BUSY
 *     word     size (34) | birth (8) | site (22)
 *
 * Levels. A region with its entry in the directory (heap_regions.c) costs 90 bytes and, on average,
 * half a line for each chain. With 96 objects this is 15 bytes per object. There are eleven levels,
 * with regions of 256 bytes to 256 MiB. An object goes to the finest level with a region of its
 * heap that has room. A new region is claimed in the finest level that has a slot for it
 * (heap_quota.c), otherwise in the coarsest level. A chain has room for 100 objects; if it is full,
 * the object goes to the next finer level. Objects are never moved, so a lookup tries all levels.
 * It begins with the level of the object that was found last, and skips levels without a region at
 * the address (sparse_levels_present). An insertion uses the first free entry that its lookup has
 * passed.
 *
 * Bound. A region is claimed with a slot, below a full region, or in the coarsest level. All
 * regions with a slot fill up, except for a constant number. Four new regions with a line in each
 * chain cost 1384 bytes, 1128 more than 16 per object. The 400 objects of the full region above
 * them save 1190, if the hash spreads them evenly. So only regions of the coarsest level can be
 * wasted: objects at a mean distance of more than 2 MiB may cost more than 16 bytes each, and 154
 * if they are 256 MiB apart.
 *
 * Claims and threads are as in the shadow: heap_claims.h. To reserve a free entry, a thread sets
 * its key to KEY_BUSY by a CAS. The thread then fills in the entry and publishes it by storing its
 * key. After that, the thread checks that its claim is still in the region, and otherwise removes
 * the entry. Objects have one owner, but a program may reset a heap that other threads use. So an
 * entry is removed by a CAS, after its word was read.
 *
 * Lines are never released, but their entries are reused. A line is lost if two threads append to
 * one chain concurrently, or if a handler jumps out of an append.
 *
 * Rejected: a hash table of all objects either moves entries when it grows, and a handler may
 * interrupt that, or it doubles without moving and is half empty. Tiers of the shadow with longer
 * granules have no bits left for sizes, and waste words where objects are at random distances. A
 * flat array of regions needs a page for each group of objects that is followed by a wide gap.
 */
#include "heaps/heap_sparse.h"

#include "base/atomics.h"
#include "heaps/heap_claims.h"
#include "heaps/heap_quota.h"
#include "heaps/heap_regions.h"
#include "ledger/ledger_entry.h"
#include "platform/state.h"

enum {
    CHAIN_LINES = 20,
    REGION_FILLED_BYTES = 15, // A region with at most this number of bytes per object is full
                              // enough.
    KEY_CLAIM = 28,
    WORD_BIRTH = LEDGER_SITE_BITS,
    WORD_BYTES = WORD_BIRTH + 8,
};

#define KEY_PRESENT (UINT32_C(1) << 31)
#define KEY_BUSY UINT32_C(1)
#define BYTES_MAX ((UINT64_C(1) << (64 - WORD_BYTES)) - 1)

static_assert(SPARSE_FINEST_BITS + SPARSE_LEVEL_BITS * (SPARSE_LEVELS - 1) <= KEY_CLAIM &&
                  HEAP_CLAIMS <= 8,
              "a key has room for an offset and a claim");

/* Return the head of R's chain for ADDRESS. */
static uint32_t *
chain_of(struct sparse_region *r, uintptr_t address)
{
    return &r->heads[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SPARSE_CHAINS];
}

/* --- Entries ---------------------------------------------------------------------------------- */

static uint32_t
heap_sparse_key_of(uint32_t level, uintptr_t address, uint32_t number)
{
    return KEY_PRESENT | number << KEY_CLAIM |
           (uint32_t)(address & ((UINT64_C(1) << sparse_region_bits(level)) - 1));
}

static uint32_t
key_claim(uint32_t key)
{
    return key >> KEY_CLAIM & 7;
}

/* Return true if an entry of R with KEY is free, or belongs to an instance that was reset since. */
static bool
is_entry_free(const struct sparse_region *r, uint32_t key)
{
    uint64_t claim;

    if ((key & KEY_PRESENT) == 0)
        return key == 0;
    claim = load_acquire(&r->claims[key_claim(key)]);
    return claim != HEAP_CLAIM_BUSY && !heap_claim_is_current(claim);
}

/* Store KEY and WORD of CLAIM in entry I of R's line L. Return false if the entry is not free, or
 * the claim is gone. */
static bool
heap_sparse_put_entry(struct sparse_region *r, struct sparse_line *l, uint32_t i, uint32_t key,
                      uint64_t word, uint64_t claim)
{
    uint32_t current = load_relaxed(&l->keys[i]);

    if (!is_entry_free(r, current) || !cas_acq_rel(&l->keys[i], &current, KEY_BUSY))
        return false;
    store_relaxed(&l->words[i], word);
    exchange_seq_cst(&l->keys[i], key);
    // Paired with wipe_region: either wipe_region sees the key, or this thread sees that the claim
    // is gone.
    if (likely(load_seq_cst(&r->claims[key_claim(key)]) == claim))
        return true;
    cas_seq_cst(&l->keys[i], &key, UINT32_C(0));
    return false;
}

/* Store KEY and WORD in the chain that begins at *LINK and has at most LIMIT lines. Return false if
 * the chain is full or memory is exhausted. */
static bool
put_in_chain(struct sparse_region *r, uint32_t *link, uint32_t limit, uint32_t key, uint64_t word,
             uint64_t claim)
{
    for (uint32_t n = 0; n < limit; n++) {
        struct sparse_line *l = sparse_line_append(link);

        for (uint32_t i = 0; l != NULL && i < SPARSE_LINE_ENTRIES; i++)
            if (heap_sparse_put_entry(r, l, i, key, word, claim))
                return true;
        if (l == NULL)
            return false;
        link = &l->next;
    }
    return false;
}

/* Free the entries of R whose claim is in GONE. */
static void
wipe_region(struct sparse_region *r, uint32_t gone)
{
    for (uint32_t chain = 0; chain < SPARSE_CHAINS; chain++)
        for (uint32_t number = load_acquire(&r->heads[chain]); number != 0;) {
            struct sparse_line *l = sparse_line_at(number);

            for (uint32_t i = 0; i < SPARSE_LINE_ENTRIES; i++) {
                uint32_t key = load_relaxed(&l->keys[i]);

                if ((key & KEY_PRESENT) != 0 && (gone >> key_claim(key) & 1) != 0)
                    cas_seq_cst(&l->keys[i], &key, UINT32_C(0));
            }
            number = load_acquire(&l->next);
        }
}

/* An entry of a region. */
struct spot {
    struct sparse_region *region;
    struct sparse_line *line; // NULL = no entry.
    uint32_t entry, key;      // KEY of the object, or of an object that would be stored in this
                              // entry.
};

/* Find the entry with KEY in the chain of R at ADDRESS. Return true and store it in *RET_FOUND.
 * Otherwise return false, and store the first free entry in *RET_FOUND unless it already has
 * one. */
static bool
search_chain(struct sparse_region *r, uintptr_t address, uint32_t key, struct spot *ret_found)
{
    uint32_t number = load_acquire(chain_of(r, address));
    bool seeks_free = ret_found->line == NULL;

    while (number != 0) {
        struct sparse_line *l = sparse_line_at(number);

        // Unrolled, so that a key takes two comparisons and no counter.
#pragma GCC unroll 5
        for (uint32_t i = 0; i < SPARSE_LINE_ENTRIES; i++) {
            uint32_t current = load_acquire(&l->keys[i]);

            if (unlikely(current == key)) {
                *ret_found = (struct spot){r, l, i, key};
                return true;
            }
            if (unlikely(current == 0) && seeks_free) {
                *ret_found = (struct spot){r, l, i, key};
                seeks_free = false;
            }
        }
        number = load_acquire(&l->next);
    }
    return false;
}

/* Find the object at ADDRESS of the instance with CLAIM in LEVEL. Returns the same as
 * search_chain. */
static bool
search_level(uint32_t level, uintptr_t address, uint64_t claim, struct spot *ret_found)
{
    struct sparse_region *r = sparse_region_find(level, address);
    uint32_t number = r != NULL ? heap_claims_find(r->claims, claim) : (uint32_t)HEAP_CLAIMS;

    return number != HEAP_CLAIMS &&
           search_chain(r, address, heap_sparse_key_of(level, address, number), ret_found);
}

/* Find the object of O at ADDRESS in the levels that O uses, beginning with the level of the object
 * that was found last. Returns the same as search_chain. */
static bool
search(struct heap_objects *o, uintptr_t address, struct spot *ret_found)
{
    uint32_t levels = load_relaxed(&o->sparse_used), latest = load_relaxed(&o->sparse_latest);
    uint64_t claim = load_acquire(&o->claim);

    *ret_found = (struct spot){0};
    if (search_level(latest, address, claim, ret_found))
        return true;
    levels = sparse_levels_present(levels & ~(1u << latest), address);
    for (; levels != 0; levels &= levels - 1) {
        uint32_t level = (uint32_t)__builtin_ctz(levels);

        if (search_level(level, address, claim, ret_found)) {
            store_relaxed(&o->sparse_latest, level);
            return true;
        }
    }
    return false;
}

bool
heap_sparse_has(struct heap_objects *o, uintptr_t address)
{
    struct spot found;

    return search(o, address, &found);
}

struct heap_block
heap_sparse_remove(struct heap_objects *o, uintptr_t address)
{
    struct spot found;
    uint64_t word;

    if (!search(o, address, &found))
        return (struct heap_block){0};
    word = load_relaxed(&found.line->words[found.entry]);
    if (!cas_acq_rel(&found.line->keys[found.entry], &found.key, UINT32_C(0)))
        return (struct heap_block){0};
    return (struct heap_block){
        .site = (uint32_t)word & LEDGER_SITE_MASK,
        .birth = word >> WORD_BIRTH & 0xff,
        .count = 1,
        .size_bytes = word >> WORD_BYTES,
    };
}

/* --- Where an object goes --------------------------------------------------------------------- */

/* Return the key of the slot for the region of LEVEL at ADDRESS. */
static uint64_t
quota_key_of(uint32_t level, uintptr_t address)
{
    static_assert(SPARSE_LEVELS < 1 << SPARSE_FINEST_BITS, "a level fits below an address");
    return round_down(address, (uintptr_t)1 << sparse_region_bits(level)) | (level + 1);
}

/* Return the waste in bytes of the region of QUOTA_KEY: its cost minus REGION_FILLED_BYTES for each
 * of its objects. */
static uint64_t
region_waste(uint64_t quota_key)
{
    uint32_t level = (uint32_t)(quota_key & ((1 << SPARSE_FINEST_BITS) - 1)) - 1;
    struct sparse_region *r = sparse_region_find(level, quota_key);
    uint64_t cost_bytes = SPARSE_REGION_BYTES, filled_bytes = 0;

    for (uint32_t chain = 0; r != NULL && chain < SPARSE_CHAINS; chain++)
        for (uint32_t number = load_acquire(&r->heads[chain]); number != 0;) {
            const struct sparse_line *l = sparse_line_at(number);

            cost_bytes += SPARSE_LINE_BYTES;
            for (uint32_t i = 0; i < SPARSE_LINE_ENTRIES; i++)
                filled_bytes += load_relaxed(&l->keys[i]) != 0 ? REGION_FILLED_BYTES : 0;
            number = load_acquire(&l->next);
        }
    return r != NULL && cost_bytes > filled_bytes ? cost_bytes - filled_bytes : 0;
}

/* Return the number of O's CLAIM in R of LEVEL. Add the claim if it is missing. Return HEAP_CLAIMS
 * if other instances occupy all places. */
static uint32_t
claim_region(struct heap_objects *o, struct sparse_region *r, uint32_t level, uint64_t claim)
{
    uint32_t number = heap_claims_find(r->claims, claim), gone;

    if (number != HEAP_CLAIMS)
        return number;
    if ((load_relaxed(&o->sparse_used) >> level & 1) == 0)
        or_seq_cst(&o->sparse_used, 1u << level); // Set the bit before an object is in the region.
    number = heap_claims_add(r->claims, claim);
    if (number == HEAP_CLAIMS && (gone = heap_claims_mark_stale(r->claims)) != 0) {
        wipe_region(r, gone);
        number = heap_claims_reuse(r->claims, gone, claim);
    }
    return number;
}

static uint64_t
word_of(struct heap_block b)
{
    return b.site | (uint64_t)b.birth << WORD_BIRTH | b.size_bytes << WORD_BYTES;
}

bool
heap_sparse_insert_free(struct heap_objects *o, uintptr_t address, struct heap_block b)
{
    struct spot found;

    return b.count == 1 && b.size_bytes <= BYTES_MAX && !search(o, address, &found) &&
           found.line != NULL &&
           heap_sparse_put_entry(found.region, found.line, found.entry, found.key, word_of(b),
                                 load_acquire(&o->claim));
}

/* Insert B at ADDRESS into R of LEVEL. NUMBER is the number of CLAIM in R. */
static bool
insert_entry(struct sparse_region *r, uint32_t level, uintptr_t address, struct heap_block b,
             uint32_t number, uint64_t claim)
{
    // The chains of the finest level have no limit, because there is no finer level.
    return put_in_chain(r, chain_of(r, address), level > 0 ? CHAIN_LINES : UINT32_MAX,
                        heap_sparse_key_of(level, address, number), word_of(b), claim);
}

/* Return the finest level in which the region at ADDRESS exists or may be created. */
static uint32_t
level_to_claim(uintptr_t address)
{
    for (uint32_t level = 0; level < SPARSE_LEVELS - 1; level++) {
        uint64_t *evicted;
        struct heap_quota *s = sparse_quota(level, &evicted);

        if (s == NULL || sparse_region_find(level, address) != NULL ||
            heap_quota_take(s, quota_key_of(level, address), region_waste, evicted))
            return level;
    }
    return SPARSE_LEVELS - 1;
}

bool
heap_sparse_insert(struct heap_objects *o, uintptr_t address, struct heap_block b)
{
    uint64_t claim = load_acquire(&o->claim);

    if (b.count != 1 || b.size_bytes > BYTES_MAX)
        return false;
    for (uint32_t levels = sparse_levels_present(load_relaxed(&o->sparse_used), address);
         levels != 0; levels &= levels - 1) {
        uint32_t level = (uint32_t)__builtin_ctz(levels);
        struct sparse_region *r = sparse_region_find(level, address);
        uint32_t number = r != NULL ? heap_claims_find(r->claims, claim) : (uint32_t)HEAP_CLAIMS;

        if (number != HEAP_CLAIMS && insert_entry(r, level, address, b, number, claim))
            return true;
    }
    for (uint32_t level = level_to_claim(address) + 1; level-- > 0;) {
        struct sparse_region *r = sparse_region_make(level, address);
        uint32_t number =
            r != NULL ? claim_region(o, r, level, claim) : (uint32_t)HEAP_CLAIMS;

        if (number != HEAP_CLAIMS && insert_entry(r, level, address, b, number, claim))
            return true;
    }
    return false;
}

/* Return the bits of heap_sparse_granules for one chain of the region that begins at REGION. NUMBER
 * is the number of the chain's first line. */
static uint64_t
granules_in(uint32_t number, uintptr_t region, uintptr_t start, uintptr_t granule_bytes)
{
    uint64_t bits = 0;

    while (number != 0) {
        const struct sparse_line *l = sparse_line_at(number);

        for (uint32_t i = 0; i < SPARSE_LINE_ENTRIES; i++) {
            uint32_t key = load_relaxed(&l->keys[i]);
            uintptr_t at = region + (key & ((UINT32_C(1) << KEY_CLAIM) - 1));
            uintptr_t granule = (at - start) / granule_bytes;

            if ((key & KEY_PRESENT) != 0 && granule < 64)
                bits |= UINT64_C(1) << granule;
        }
        number = load_acquire(&l->next);
    }
    return bits;
}

uint64_t
heap_sparse_granules(uintptr_t start, uintptr_t granule_bytes)
{
    uint64_t bits = 0;

    for (uint32_t level = 0; level < SPARSE_LEVELS; level++) {
        uintptr_t region_bytes = (uintptr_t)1 << sparse_region_bits(level), at = start;

        // Clip the range, because regions of the finest levels are shorter than the 64 granules.
        for (; at - start < 64 * granule_bytes; at += region_bytes) {
            struct sparse_region *r = sparse_region_find(level, at);
            uintptr_t first = round_down(at, region_bytes);

            for (uint32_t chain = 0; r != NULL && chain < SPARSE_CHAINS; chain++)
                bits |= granules_in(load_acquire(&r->heads[chain]), first, start, granule_bytes);
        }
    }
    return bits;
}

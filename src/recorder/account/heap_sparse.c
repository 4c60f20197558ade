/* heap_sparse.c: objects of the program's own heaps that lie far apart.
 *
 * The shadow (heap_objects.c) has a word for every granule, so it wastes most of a page where
 * objects lie far apart or at random distances. Here only objects take memory: an entry has 12
 * bytes, five entries share a cache line with the number of the next one, and a region of the
 * address space has four chains of such lines, one for each quarter.
 *
 *     address ──► level ──► leaf: regions ──► quarter ──► line ──► line
 *
 *     region   6 claims of 8 bytes | 4 numbers of lines
 *     line     5 keys of 4 bytes | number of the next | 5 words of 8 bytes
 *
 *     key      1 | claim (3 bits) | offset in the region (28)      0 = free, KEY_BUSY
 *     word     size (34) | birth (8) | site (22)
 *
 * Levels. A region costs 64 bytes and, on average, half a line for each chain. So it should have 64
 * objects or more: then an object takes 12.8 to 16 bytes. There are eight levels, with regions of
 * 4 KiB to 256 MiB. An object goes to the finest level in which its heap has a region with room. A
 * new region is claimed in the finest level in which the region claimed last has 64 objects, in the
 * coarsest one otherwise. A chain holds 80 objects; what finds it full goes to a finer level, in
 * the finest one to a hash table (heap_table.c). Nothing is moved, so a lookup tries all levels.
 *
 * Claims and threads are as in the shadow: heap_claims.h. A free entry is taken by a CAS of its
 * key to KEY_BUSY, filled in, and published by its key. Whoever has published looks whether its
 * claim is still there, and takes the entry back if not. Objects have one owner, but a program may
 * reset a heap that others use; so an entry is taken out by a CAS, after its word was read.
 *
 * Memory. Pages are charged (mem_charge) before they are touched, and pages of regions that were
 * not charged are not read. Lines are never given back, but their entries are used again. A line
 * is lost if two threads append to one chain at once, or a handler jumps out of it.
 *
 * Rejected: a hash table of all objects either moves entries when it grows, which a handler may
 * interrupt, or doubles without moving and is half empty. Tiers of the shadow with longer granules
 * have no bits left for sizes, and waste words where objects lie at random distances.
 */
#include "account/heap_sparse.h"

#include "account/heap_claims.h"
#include "account/ledger_entry.h"
#include "base/atomics.h"
#include "platform/arch_x86_64.h"
#include "platform/mem.h"
#include "platform/state.h"

enum {
    LEVELS = 8,
    FINEST_BITS = 12, // Of a region's length; the next level has 16 times as much, others four.
    SECOND_BITS = 16,
    LEVEL_BITS = 2,
    QUARTER_BITS = 2,
    LEAF_BITS = 18, // Regions of a leaf.
    SPARSE_PAGE_BYTES = 4096,
    LINE_ENTRIES = 5,
    CHAIN_LINES = 16,
    WORTH_OBJECTS = 64, // Of a region.
    SEGMENT_BITS = 20,  // Lines of a segment.
    SEGMENTS = 512,
    KEY_CLAIM = 28,
    WORD_BIRTH = LEDGER_SITE_BITS,
    WORD_BYTES = WORD_BIRTH + 8,
};

#define KEY_THERE (UINT32_C(1) << 31)
#define KEY_BUSY UINT32_C(1)
#define BYTES_MAX ((UINT64_C(1) << (64 - WORD_BYTES)) - 1)

struct sparse_region {
    uint64_t claims[HEAP_CLAIMS];      // Atomic; heap_claims.h.
    uint32_t heads[1 << QUARTER_BITS]; // Atomic: numbers of lines; 0 = none.
};

struct sparse_line {
    uint32_t keys[LINE_ENTRIES]; // Atomic.
    uint32_t next;               // Atomic: 0 = none.
    uint64_t words[LINE_ENTRIES];
};

static_assert(sizeof(struct sparse_region) == 64 && sizeof(struct sparse_line) == 64,
              "a line of the cache");
static_assert(SECOND_BITS + LEVEL_BITS * (LEVELS - 2) <= KEY_CLAIM && HEAP_CLAIMS <= 8,
              "a key has room for an offset and a claim");
static_assert(countof(((struct heap_objects *)0)->sparse) == LEVELS, "one for each level");

struct sparse_leaf {
    uint64_t pages[(sizeof(struct sparse_region) << LEAF_BITS) / SPARSE_PAGE_BYTES / 64]; // Atomic.
    struct sparse_region regions[1 << LEAF_BITS] __attribute__((aligned(SPARSE_PAGE_BYTES)));
};

enum {
    FINEST_LEAVES = 1 << (ARCH_ADDRESS_BITS - FINEST_BITS - LEAF_BITS),
    COARSER_LEAVES = 1 << (ARCH_ADDRESS_BITS - SECOND_BITS - LEAF_BITS),
};

struct heap_sparse {
    uint64_t used; // Atomic: lines; the first one is none.
    struct sparse_line *segments[SEGMENTS]; // Atomic.
    struct sparse_leaf *finest[FINEST_LEAVES]; // Atomic.
    struct sparse_leaf *coarser[LEVELS - 1][COARSER_LEAVES]; // Atomic, by level.
};

/* --- Regions ---------------------------------------------------------------------------------- */

static uint32_t
region_bits(uint32_t level)
{
    return level == 0 ? FINEST_BITS : SECOND_BITS + LEVEL_BITS * (level - 1);
}

static struct sparse_leaf **
leaf_place(struct heap_sparse *sparse, uint32_t level, uintptr_t address)
{
    uintptr_t leaf = address >> region_bits(level) >> LEAF_BITS;

    return level == 0 ? &sparse->finest[leaf] : &sparse->coarser[level - 1][leaf];
}

/* The number of the region of LEVEL at ADDRESS in its leaf. */
static size_t
region_index(uint32_t level, uintptr_t address)
{
    return address >> region_bits(level) & ((1 << LEAF_BITS) - 1);
}

/* The region of LEVEL at ADDRESS if its page has been charged, else NULL. */
static struct sparse_region *
region_there(uint32_t level, uintptr_t address)
{
    struct heap_sparse *sparse = load_acquire(&state->heap_sparse);
    size_t index = region_index(level, address), page = index / 64;
    struct sparse_leaf *leaf;

    if (sparse == NULL || address >> ARCH_ADDRESS_BITS)
        return NULL;
    leaf = load_acquire(leaf_place(sparse, level, address));
    if (leaf == NULL || (load_acquire(&leaf->pages[page / 64]) >> page % 64 & 1) == 0)
        return NULL;
    return &leaf->regions[index];
}

/* The region of LEVEL at ADDRESS, whose page is charged if it was not; NULL without memory. */
static struct sparse_region *
region_begin(uint32_t level, uintptr_t address)
{
    size_t index = region_index(level, address), page = index / 64;
    uint64_t bit = UINT64_C(1) << page % 64;
    struct heap_sparse *sparse;
    struct sparse_leaf *leaf;

    if (address >> ARCH_ADDRESS_BITS)
        return NULL;
    sparse = heap_memory_once(&state->heap_sparse, sizeof *sparse,
                              round_up(offsetof(struct heap_sparse, finest), SPARSE_PAGE_BYTES));
    if (sparse == NULL)
        return NULL;
    // The page that has the place of the leaf may be touched for the first time.
    leaf = heap_memory_once(leaf_place(sparse, level, address), sizeof *leaf,
                            SPARSE_PAGE_BYTES + offsetof(struct sparse_leaf, regions));
    if (leaf == NULL)
        return NULL;
    if ((load_acquire(&leaf->pages[page / 64]) & bit) == 0) {
        if (!mem_charge(SPARSE_PAGE_BYTES))
            return NULL;
        if (or_seq_cst(&leaf->pages[page / 64], bit) & bit)
            mem_uncharge(SPARSE_PAGE_BYTES); // Another thread has done so.
    }
    return &leaf->regions[index];
}

/* The head of the chain of R, which is of LEVEL, that ADDRESS is in. */
static uint32_t *
chain_of(struct sparse_region *r, uint32_t level, uintptr_t address)
{
    return &r->heads[address >> (region_bits(level) - QUARTER_BITS) & (countof(r->heads) - 1)];
}

/* --- Lines ------------------------------------------------------------------------------------ */

static struct sparse_line *
line_at(uint32_t number)
{
    struct heap_sparse *sparse = load_acquire(&state->heap_sparse);

    return &load_acquire(&sparse->segments[number >> SEGMENT_BITS])
                [number & ((1 << SEGMENT_BITS) - 1)];
}

/* The number of a line that nobody has used; 0 without memory. */
static uint32_t
line_take(void)
{
    const uint64_t lines_of_page = SPARSE_PAGE_BYTES / sizeof(struct sparse_line);
    struct heap_sparse *sparse = load_acquire(&state->heap_sparse);
    uint64_t used = load_relaxed(&sparse->used);

    for (;;) {
        uint64_t number = used == 0 ? 1 : used;
        size_t segment = number >> SEGMENT_BITS;
        bool charged = number % lines_of_page == 0 || used == 0;

        if (segment >= SEGMENTS ||
            heap_memory_once(&sparse->segments[segment],
                             sizeof(struct sparse_line) << SEGMENT_BITS, 0) == NULL ||
            (charged && !mem_charge(SPARSE_PAGE_BYTES)))
            return 0;
        if (cas_acq_rel(&sparse->used, &used, number + 1))
            return (uint32_t)number;
        if (charged)
            mem_uncharge(SPARSE_PAGE_BYTES);
    }
}

/* The line that *LINK has the number of; one is appended if there is none. NULL without memory. */
static struct sparse_line *
line_append(uint32_t *link)
{
    uint32_t number = load_acquire(link), made;

    if (number != 0)
        return line_at(number);
    made = line_take();
    if (made == 0)
        return NULL;
    return line_at(cas_acq_rel(link, &number, made) ? made : number);
}

/* --- Entries ---------------------------------------------------------------------------------- */

static uint32_t
key_of(uint32_t level, uintptr_t address, uint32_t number)
{
    return KEY_THERE | number << KEY_CLAIM |
           (uint32_t)(address & ((UINT64_C(1) << region_bits(level)) - 1));
}

static uint32_t
key_claim(uint32_t key)
{
    return key >> KEY_CLAIM & 7;
}

/* Is an entry of R with KEY free, or what an instance has left that was emptied since? */
static bool
is_entry_free(const struct sparse_region *r, uint32_t key)
{
    uint64_t claim;

    if ((key & KEY_THERE) == 0)
        return key == 0;
    claim = load_acquire(&r->claims[key_claim(key)]);
    return claim != HEAP_CLAIM_BUSY && !heap_claim_is_current(claim);
}

/* Put KEY and WORD of CLAIM into entry I of L, which is of R. False: it is not free, or the claim
 * has gone. */
static bool
put_entry(struct sparse_region *r, struct sparse_line *l, uint32_t i, uint32_t key, uint64_t word,
          uint64_t claim)
{
    uint32_t there = load_relaxed(&l->keys[i]);

    if (!is_entry_free(r, there) || !cas_acq_rel(&l->keys[i], &there, KEY_BUSY))
        return false;
    store_relaxed(&l->words[i], word);
    exchange_seq_cst(&l->keys[i], key);
    // Paired with wipe_region: either it sees the key, or we see that the claim has gone.
    if (likely(load_seq_cst(&r->claims[key_claim(key)]) == claim))
        return true;
    cas_seq_cst(&l->keys[i], &key, UINT32_C(0));
    return false;
}

/* Put KEY and WORD into the chain that begins at *LINK. False: it is full, or no memory. */
static bool
put_in_chain(struct sparse_region *r, uint32_t *link, uint32_t key, uint64_t word, uint64_t claim)
{
    for (uint32_t n = 0; n < CHAIN_LINES; n++) {
        struct sparse_line *l = line_append(link);

        for (uint32_t i = 0; l != NULL && i < LINE_ENTRIES; i++)
            if (put_entry(r, l, i, key, word, claim))
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
    for (uint32_t quarter = 0; quarter < countof(r->heads); quarter++)
        for (uint32_t number = load_acquire(&r->heads[quarter]); number != 0;) {
            struct sparse_line *l = line_at(number);

            for (uint32_t i = 0; i < LINE_ENTRIES; i++) {
                uint32_t key = load_relaxed(&l->keys[i]);

                if ((key & KEY_THERE) != 0 && (gone >> key_claim(key) & 1) != 0)
                    cas_seq_cst(&l->keys[i], &key, UINT32_C(0));
            }
            number = load_acquire(&l->next);
        }
}

/* Where the object of O at ADDRESS is in LEVEL: *RET_LINE and the number of its entry, and its key
 * in *RET_KEY. LINE_ENTRIES: it is not there. */
static uint32_t
find_entry(const struct heap_objects *o, uint32_t level, uintptr_t address,
           struct sparse_line **ret_line, uint32_t *ret_key)
{
    struct sparse_region *r = region_there(level, address);
    uint32_t number = r != NULL ? heap_claims_find(r->claims, load_acquire(&o->claim))
                                : (uint32_t)HEAP_CLAIMS, line;

    if (number == HEAP_CLAIMS)
        return LINE_ENTRIES;
    *ret_key = key_of(level, address, number);
    for (line = load_acquire(chain_of(r, level, address)); line != 0;) {
        struct sparse_line *l = line_at(line);

        for (uint32_t i = 0; i < LINE_ENTRIES; i++)
            if (load_acquire(&l->keys[i]) == *ret_key) {
                *ret_line = l;
                return i;
            }
        line = load_acquire(&l->next);
    }
    return LINE_ENTRIES;
}

bool
heap_sparse_has(const struct heap_objects *o, uintptr_t address)
{
    struct sparse_line *l;
    uint32_t key;

    for (uint32_t levels = load_relaxed(&o->sparse_used); levels != 0; levels &= levels - 1)
        if (find_entry(o, (uint32_t)__builtin_ctz(levels), address, &l, &key) != LINE_ENTRIES)
            return true;
    return false;
}

struct heap_block
heap_sparse_remove(struct heap_objects *o, uintptr_t address)
{
    for (uint32_t levels = load_relaxed(&o->sparse_used); levels != 0; levels &= levels - 1) {
        struct sparse_line *l;
        uint32_t key, i = find_entry(o, (uint32_t)__builtin_ctz(levels), address, &l, &key);
        uint64_t word;

        if (i == LINE_ENTRIES)
            continue;
        word = load_relaxed(&l->words[i]);
        if (!cas_acq_rel(&l->keys[i], &key, UINT32_C(0)))
            break;
        return (struct heap_block){
            .site = (uint32_t)word & LEDGER_SITE_MASK,
            .birth = word >> WORD_BIRTH & 0xff,
            .count = 1,
            .size_bytes = word >> WORD_BYTES,
        };
    }
    return (struct heap_block){0};
}

/* --- Where an object goes --------------------------------------------------------------------- */

/* Did the region of LEVEL that O has claimed last turn out not to be worth it? */
static bool
is_region_sparse(const struct heap_objects *o, uint32_t level)
{
    uintptr_t before = load_relaxed(&o->sparse[level]);
    struct sparse_region *r = before != 0 ? region_there(level, before) : NULL;
    uint32_t objects = 0;

    for (uint32_t quarter = 0; r != NULL && quarter < countof(r->heads); quarter++)
        for (uint32_t number = load_acquire(&r->heads[quarter]);
             number != 0 && objects < WORTH_OBJECTS;) {
            const struct sparse_line *l = line_at(number);

            for (uint32_t i = 0; i < LINE_ENTRIES; i++)
                objects += load_relaxed(&l->keys[i]) != 0;
            number = load_acquire(&l->next);
        }
    return r != NULL && objects < WORTH_OBJECTS;
}

/* The number of the claim of O in R, which is of LEVEL at ADDRESS; HEAP_CLAIMS if all are
 * others'. */
static uint32_t
claim_region(struct heap_objects *o, struct sparse_region *r, uint32_t level, uintptr_t address,
             uint64_t claim)
{
    uint32_t number = heap_claims_find(r->claims, claim), gone;

    if (number != HEAP_CLAIMS)
        return number;
    if ((load_relaxed(&o->sparse_used) >> level & 1) == 0)
        or_seq_cst(&o->sparse_used, 1u << level); // Before an object is there.
    number = heap_claims_add(r->claims, claim);
    if (number == HEAP_CLAIMS && (gone = heap_claims_mark_stale(r->claims)) != 0) {
        wipe_region(r, gone);
        number = heap_claims_reuse(r->claims, gone, claim);
    }
    if (number != HEAP_CLAIMS)
        store_relaxed(&o->sparse[level], address);
    return number;
}

/* Put B at ADDRESS into R of LEVEL, where CLAIM has NUMBER. */
static bool
insert_entry(struct sparse_region *r, uint32_t level, uintptr_t address, struct heap_block b,
             uint32_t number, uint64_t claim)
{
    return put_in_chain(r, chain_of(r, level, address), key_of(level, address, number),
                        b.site | (uint64_t)b.birth << WORD_BIRTH | b.size_bytes << WORD_BYTES,
                        claim);
}

/* The level whose region at ADDRESS O should claim. */
static uint32_t
level_to_claim(const struct heap_objects *o)
{
    uint32_t level = 0;

    while (level < LEVELS - 1 && is_region_sparse(o, level))
        level++;
    return level;
}

bool
heap_sparse_insert(struct heap_objects *o, uintptr_t address, struct heap_block b)
{
    uint64_t claim = load_acquire(&o->claim);

    if (b.count != 1 || b.size_bytes > BYTES_MAX)
        return false;
    for (uint32_t levels = load_relaxed(&o->sparse_used); levels != 0; levels &= levels - 1) {
        uint32_t level = (uint32_t)__builtin_ctz(levels);
        struct sparse_region *r = region_there(level, address);
        uint32_t number = r != NULL ? heap_claims_find(r->claims, claim) : (uint32_t)HEAP_CLAIMS;

        if (number != HEAP_CLAIMS && insert_entry(r, level, address, b, number, claim))
            return true;
    }
    for (uint32_t level = level_to_claim(o) + 1; level-- > 0;) {
        struct sparse_region *r = region_begin(level, address);
        uint32_t number =
            r != NULL ? claim_region(o, r, level, address, claim) : (uint32_t)HEAP_CLAIMS;

        if (number != HEAP_CLAIMS && insert_entry(r, level, address, b, number, claim))
            return true;
    }
    return false;
}

/* The bits of heap_sparse_granules for the chain whose first line is NUMBER; the first granule has
 * the offset FIRST in the region. */
static uint64_t
granules_in(uint32_t number, uintptr_t first, uintptr_t granule_bytes)
{
    uint64_t bits = 0;

    while (number != 0) {
        const struct sparse_line *l = line_at(number);

        for (uint32_t i = 0; i < LINE_ENTRIES; i++) {
            uint32_t key = load_relaxed(&l->keys[i]);
            uintptr_t granule =
                ((key & ((UINT32_C(1) << KEY_CLAIM) - 1)) - first) / granule_bytes;

            if ((key & KEY_THERE) != 0 && granule < 64)
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

    for (uint32_t level = 0; level < LEVELS; level++) {
        struct sparse_region *r = region_there(level, start);
        uintptr_t first = start & ((UINT64_C(1) << region_bits(level)) - 1);

        // Only regions of the finest level have shorter quarters than the 64 granules.
        if (r != NULL && level > 0)
            bits |= granules_in(load_acquire(chain_of(r, level, start)), first, granule_bytes);
        for (uint32_t quarter = 0; r != NULL && level == 0 && quarter < countof(r->heads);
             quarter++)
            bits |= granules_in(load_acquire(&r->heads[quarter]), first, granule_bytes);
    }
    return bits;
}

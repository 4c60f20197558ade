/* heap_objects.c: which objects one of the program's own heaps holds.
 *
 * Objects lie at addresses of the process, mostly near one another. So they are kept as malloc's
 * blocks are (ledger.c), in a flat shadow of the address space, where neighbours share a cache line
 * and nothing is moved. A sparse heap needs a coarser shadow than a dense one. So there are five
 * tiers, whose granules are 64, 256, 1024, 4096 and 16384 bytes long:
 *
 *     address ──► top level of a tier ──► leaf: 2^18 granules, mapped on demand
 *
 *     leaf    ways[][]   a word for each granule and way     regions[]   64 bytes for 64 granules
 *
 *     63              33+n 33+n   33 32    30 29     22 21       0
 *     |  size  | count | offset in   | claim  |  birth  |   site   |     0 = no object begins here
 *                        the granule
 *
 * Granules and ways. An object goes into a free word of its granule: that of the first way, else of
 * the second, and so on. Each way is an array of its own, so a page of it is touched only where
 * granules have that many objects. 64 ways of the finest tier hold objects of one byte each.
 * A count that does not fit in the word is in the instance's hash table (heap_table.c).
 *
 * Which tier. Begin with the finest one whose granule is not much shorter than the object. Where
 * touching a page takes memory, look at the region that this heap has claimed last: if few of its
 * words are used, try the next coarser tier. The same test decides whether a way is worth another
 * page. The heap's last region may mislead, so a page also needs a stake (heap_stakes.c).
 * If no tier is worth it, the object is sparse (heap_sparse.c). Where it finds no room there,
 * take any free word, from the coarsest tier on. So pages that are touched are mostly full, and an
 * object takes 8 to 16 bytes in practice (internals/heaps.md).
 * Nothing depends on the guess but memory: a lookup tries all tiers in which the heap has a claim.
 *
 * Before it makes that choice, an object takes a free place that costs no memory: in a tier that
 * is coarse enough for its size, finest first, else among the sparse objects (insert_begun).
 *
 * Fast path. Only words of the finest tier are read inline. Larger objects take one call more
 * (heap_objects_insert_coarse, heap_free_begun), with code of its own for each tier. An object of
 * the finest tier may hide an older one at the same address in a coarser tier, whose end went
 * unseen. So a region of the finest tier has a bit for each granule, set if an object may be
 * elsewhere; the inline part leaves those alone.
 * A bit is set after the object was put elsewhere, and by whoever claims the region, after its
 * pages were marked as begun: of the two, the later one sees the other.
 *
 * Instances. An address means something within its instance only: the first object of an arena
 * begins where its chunk does, which may be an object of another heap, and a program may use
 * offsets. A region lists up to six *claims*, the numbers of the instances whose objects begin
 * there, and a word names one of these. An instance that is emptied takes another number, so all
 * its claims become stale at once. A stale word is overwritten like a free one. Before the place
 * of a stale claim is given to another, all words of stale claims are wiped from the region, so a
 * word never passes to another instance. Objects that find neither a claim nor a word are in the
 * hash table alone; the region of the coarsest tier notes whose table that is.
 *
 * Threads. An object has one owner from before it comes until after it has gone, so it is taken
 * out by a plain store. Two instances may want one place at once, so it is taken by a CAS, which
 * needs no lock prefix as long as there is one thread. A claim is taken away by marking it
 * HEAP_CLAIM_BUSY first; who has put a word in looks whether its claim is still there, and takes
 * the word back if not. That happens only to those who use a heap while others reset it.
 *
 * Memory. Each page is charged (mem_charge) before it is touched, so a limit holds to the page; an
 * object that finds no room is refused, and the caller counts the loss. A page that was not charged
 * is not read either: the kernel would count it as resident. Rejected: a hash table of all objects
 * holds 16 bytes for each only if entries move when it grows, which a signal handler may interrupt
 * at any instruction. One tier with as many ways takes 8 bytes where objects are dense, but up to a
 * page for each where they are not.
 *
 * A child made by fork sees zeros, as in all the recorder's private memory. With a reserve of
 * memory there is no room for a shadow, and all is in tables.
 */
#include "heaps/heap_objects.h"

#include "heaps/heap_instance.h"
#include "heaps/heap_sparse.h"
#include "heaps/heaps_state.h"
#include "platform/mem.h"

enum {
    NOBODY = HEAP_CLAIMS,
    // Charged for a leaf before it holds anything.
    LEAF_BYTES = HEAP_PAGE_BYTES + offsetof(struct heap_leaf, regions),
    REGION_PAGE_UNITS = 8, // Units whose regions share a page.
    UNIT_GRANULES = 512,
    LEAF_UNITS = (1 << HEAP_LEAF_BITS) / UNIT_GRANULES,
    UNIT_WORTH_BYTES = 15,      // For each word of a unit that is full enough.
    FINE_STAKED_PAGES = 96, // Of all units with a stake in the first tier,
    COARSE_STAKED_PAGES = 48, // and in each of the others.
    COARSE_WAYS = 32, // Of a granule of all tiers but the first.
    DENSE_WORDS = 50, // Of a region's first words, when it is worth having.
    WAY_WORDS = 54,   // The same of its words of one way, when the next way is.
};

static_assert(countof(((struct heaps_state *)0)->heap_shadow) == HEAP_TIERS &&
                  countof(((struct heap_objects *)0)->latest) == HEAP_TIERS,
              "one for each tier");

void
heap_objects_empty(struct heap_objects *o)
{
    uint64_t claim = load_relaxed(&o->claim);

    while (!cas_acq_rel(&o->claim, &claim, (claim & ~HEAP_CLAIM_TURN_MASK) |
                                               ((claim + 1) & HEAP_CLAIM_TURN_MASK)))
        ;
    if (load_relaxed(&o->table.levels[0]) != NULL)
        heap_map_empty(&o->table);
    store_relaxed(&o->untold, 0u);
    // The next objects may lie elsewhere, and closer together or further apart.
    for (uint32_t tier = 0; tier < HEAP_TIERS; tier++) {
        store_relaxed(&o->latest[tier], UINT64_C(0));
        store_relaxed(&o->before[tier], UINT64_C(0));
    }
}

/* --- Memory ----------------------------------------------------------------------------------- */

static COLD struct heap_leaf *
leaf_make(uint32_t tier, uintptr_t address)
{
    uint32_t span_bits = heap_granule_bits(tier) + HEAP_LEAF_BITS;
    struct heap_leaf **top;

    if (address >> ARCH_ADDRESS_BITS)
        return NULL;
    top = heap_memory_once(&heaps_state()->heap_shadow[tier],
                           sizeof *top << (ARCH_ADDRESS_BITS - span_bits), 0);
    if (top == NULL)
        return NULL;
    // The page of the top level that has the leaf may be touched for the first time.
    return heap_memory_once(&top[address >> span_bits], sizeof **top, LEAF_BYTES);
}

/* Account for page PAGE of those that BITS stand for. False: there is no room for it. */
static bool
begin_page(uint64_t *bits, uint32_t page)
{
    uint64_t bit = UINT64_C(1) << page % 64;

    if (heap_page_is_begun(bits, page))
        return true;
    if (!mem_charge(HEAP_PAGE_BYTES))
        return false;
    if (or_seq_cst(&bits[page / 64], bit) & bit)
        mem_uncharge(HEAP_PAGE_BYTES); // Another thread has done so.
    return true;
}

/* The words of WAY of the region at ADDRESS in LEAF may be used from now on. False: no memory. */
static bool
begin_way(struct heap_leaf *leaf, uint32_t tier, uint32_t way, uintptr_t address)
{
    uint32_t group = way > 0 ? 31 - (uint32_t)__builtin_clz(way) : 0;

    if (way > 0 && heap_memory_once(&leaf->further[group], sizeof leaf->first << group, 0) == NULL)
        return false;
    return begin_page(leaf->pages[way], heap_page_of_words(tier, address));
}

/* The region at ADDRESS in LEAF and its first words may be used from now on. False: no memory. */
static bool
begin_region(struct heap_leaf *leaf, uint32_t tier, uintptr_t address)
{
    uint32_t index = (uint32_t)(heap_region(leaf, tier, address) - leaf->regions);

    return begin_page(leaf->region_pages, index / 64) && begin_way(leaf, tier, 0, address);
}

/* --- Stakes ----------------------------------------------------------------------------------- */

/* The name among stakes of the unit at ADDRESS: the granules whose words share a page. */
static uint64_t
unit_of(uint32_t tier, uintptr_t address)
{
    return round_down(address, (uintptr_t)UNIT_GRANULES << heap_granule_bits(tier)) | (tier + 1);
}

static uint32_t
unit_tier(uint64_t unit)
{
    return (uint32_t)(unit & (HEAP_PAGE_BYTES - 1)) - 1;
}

/* The number of pages of words that UNIT, whose leaf is LEAF, has begun. */
static uint32_t
unit_pages(const struct heap_leaf *leaf, uint64_t unit)
{
    uint32_t page = heap_page_of_words(unit_tier(unit), unit), pages = 0;

    for (uint32_t way = 0; way < HEAP_WAYS; way++)
        pages += heap_page_is_begun(leaf->pages[way], page);
    return pages;
}

/* The number of words of WAY in UNIT, whose leaf is LEAF. */
static uint32_t
unit_words(struct heap_leaf *leaf, uint64_t unit, uint32_t way)
{
    uint32_t tier = unit_tier(unit), words = 0;
    uintptr_t first = round_down((uintptr_t)unit, (uintptr_t)1 << heap_granule_bits(tier));

    if (!heap_page_is_begun(leaf->pages[way], heap_page_of_words(tier, unit)))
        return 0;
    for (uintptr_t i = 0; i < UNIT_GRANULES; i++)
        words += load_relaxed(heap_word(leaf, tier, way,
                                        first + (i << heap_granule_bits(tier)))) != 0;
    return words;
}

/* How many of the COUNT units of LEAF from number FIRST on have begun. */
static uint32_t
units_begun(const struct heap_leaf *leaf, uint32_t first, uint32_t count)
{
    uint32_t begun = 0;

    for (uint32_t page = first; page < first + count; page++)
        begun += heap_page_is_begun(leaf->pages[0], page);
    return begun;
}

/* What UNIT costs beyond UNIT_WORTH_BYTES for each of its words. Units share the cost of their leaf
 * and of the page with their regions. */
static uint64_t
unit_waste(uint64_t unit)
{
    uint32_t tier = unit_tier(unit), page = heap_page_of_words(tier, unit), near, in_leaf;
    struct heap_leaf *leaf = heap_leaf(tier, unit);
    uint64_t cost_bytes, words = 0;

    if (leaf == NULL || !heap_page_is_begun(leaf->pages[0], page))
        return 0;
    near = units_begun(leaf, page / REGION_PAGE_UNITS * REGION_PAGE_UNITS, REGION_PAGE_UNITS);
    in_leaf = units_begun(leaf, 0, LEAF_UNITS);
    cost_bytes = (uint64_t)unit_pages(leaf, unit) * HEAP_PAGE_BYTES + HEAP_PAGE_BYTES / near +
                 LEAF_BYTES / in_leaf;
    for (uint32_t way = 0; way < HEAP_WAYS; way++)
        words += unit_words(leaf, unit, way);
    return cost_bytes > words * UNIT_WORTH_BYTES ? cost_bytes - words * UNIT_WORTH_BYTES : 0;
}

/* Do the units with a stake in TIER have few enough pages for one more? */
static bool
is_page_affordable(uint32_t tier)
{
    const struct heap_stakes *s = &heaps_state()->heaps->stakes[tier];
    uint32_t pages = 0;

    for (uint32_t i = 0; i < HEAP_STAKES; i++) {
        uint64_t unit = load_relaxed(&s->open[i]);
        struct heap_leaf *leaf = unit != 0 ? heap_leaf(tier, unit) : NULL;

        pages += leaf != NULL ? unit_pages(leaf, unit) : 0;
    }
    return pages < (tier == 0 ? FINE_STAKED_PAGES : COARSE_STAKED_PAGES);
}

/* May WAY of the unit at ADDRESS, whose leaf is LEAF or NULL, be used, although that may take
 * memory? */
static bool
is_affordable(const struct heap_leaf *leaf, uint32_t tier, uint32_t way, uintptr_t address)
{
    if (leaf != NULL && heap_page_is_begun(leaf->pages[way], heap_page_of_words(tier, address)))
        return true;
    return heap_stakes_take(&heaps_state()->heaps->stakes[tier], unit_of(tier, address), unit_waste,
                            &heaps_state()->heaps->forgiven_bytes) &&
           (way == 0 || is_page_affordable(tier));
}

/* --- Words ------------------------------------------------------------------------------------ */

/* *PLACE, which was *THERE, becomes WORD; false, and *THERE is what it is, if it was changed. */
static inline bool
exchange(uint64_t *place, uint64_t *there, uint64_t word)
{
    return likely(!load_relaxed(&state->multi)) ? arch_cas_alone(place, there, word)
                                                : cas_acq_rel(place, there, word);
}

/* The first address of the region at ADDRESS. */
static uintptr_t
region_start(uint32_t tier, uintptr_t address)
{
    return round_down(address, (uintptr_t)HEAP_REGION_WORDS << heap_granule_bits(tier));
}

/* Take away all words of REGION, which is at ADDRESS in LEAF, of the claims whose bits are set in
 * GONE. */
static void
wipe(struct heap_leaf *leaf, uint32_t tier, const struct heap_region *region, uintptr_t address,
     uint32_t gone)
{
    uintptr_t first = region_start(tier, address);

    for (uint32_t way = 0; way <= load_acquire(&region->ways); way++) {
        for (uint32_t i = 0; i < HEAP_REGION_WORDS; i++) {
            uint64_t *place = heap_word(leaf, tier, way,
                                        first + ((uintptr_t)i << heap_granule_bits(tier)));
            uint64_t there = load_relaxed(place);

            while (there != 0 && gone >> heap_word_claim(there) & 1)
                if (exchange(place, &there, 0))
                    break;
        }
    }
}

/* Give one of the stale claims of the region at ADDRESS in LEAF to CLAIM. Returns its number;
 * NOBODY if none is stale. */
static COLD uint32_t
take_stale(struct heap_leaf *leaf, uint32_t tier, uintptr_t address, uint64_t claim)
{
    struct heap_region *region = heap_region(leaf, tier, address);
    uint32_t gone = heap_claims_mark_stale(region->claims);

    if (gone == 0)
        return NOBODY;
    wipe(leaf, tier, region, address, gone);
    if (gone == (1u << HEAP_CLAIMS) - 1)
        store_relaxed(&region->ways, 0u); // Nobody has put in what would not be wiped.
    return heap_claims_reuse(region->claims, gone, claim);
}

/* Make CLAIM one of the region at ADDRESS in LEAF. Returns its number; NOBODY if all are
 * others'. */
static uint32_t
claim_anew(struct heap_leaf *leaf, uint32_t tier, uintptr_t address, uint64_t claim)
{
    uint32_t number = heap_claims_add(heap_region(leaf, tier, address)->claims, claim);

    return number != NOBODY ? number : take_stale(leaf, tier, address, claim);
}

/* Put WORD into PLACE of REGION if that is free, or what is there has ended with its instance. */
static bool
put(uint64_t *place, const struct heap_region *region, uint64_t word, uint64_t claim)
{
    uint64_t there = load_relaxed(place);

    while (likely(there == 0) ||
           !heap_claim_is_current(load_acquire(&region->claims[heap_word_claim(there)]))) {
        if (there != 0 &&
            load_acquire(&region->claims[heap_word_claim(there)]) == HEAP_CLAIM_BUSY)
            return false;
        if (!exchange(place, &there, word))
            continue;
        // Paired with take_stale: either it sees the word, or we see that the claim has gone.
        if (likely(load_seq_cst(&region->claims[heap_word_claim(word)]) == claim))
            return true;
        exchange(place, &word, 0);
        return false;
    }
    return false;
}

/* How many words of WAY the region at ADDRESS in LEAF has. */
static uint32_t
count_words(struct heap_leaf *leaf, uint32_t tier, uint32_t way, uintptr_t address)
{
    uintptr_t first = region_start(tier, address);
    uint32_t count = 0;

    // Eight granules at a time: their words share a line.
    for (uint32_t i = 0; i < HEAP_REGION_WORDS; i += 1 << HEAP_LINE_BITS) {
        const uint64_t *line =
            heap_word(leaf, tier, way, first + ((uintptr_t)i << heap_granule_bits(tier)));

        for (uint32_t k = 0; k < 1 << HEAP_LINE_BITS; k++)
            count += load_relaxed(&line[k]) != 0;
    }
    return count;
}

/* Is WAY worth a page at ADDRESS in LEAF, because the way before it is dense? O's words there are
 * yet to come, so its region before is looked at. */
static bool
is_way_worth(const struct heap_objects *o, struct heap_leaf *leaf, uint32_t tier, uint32_t way,
             uintptr_t address)
{
    uintptr_t before = load_relaxed(&o->before[tier]);
    struct heap_leaf *sample = before != 0 ? heap_leaf(tier, before) : NULL;

    if (sample == NULL || heap_page_is_begun(leaf->pages[way], heap_page_of_words(tier, address)))
        return true;
    return load_acquire(&heap_region(sample, tier, before)->ways) >= way - 1 &&
           count_words(sample, tier, way - 1, before) >= WAY_WORDS;
}

/* Put WORD into a way of the granule at ADDRESS in LEAF. THRIFTY: only into one that is worth its
 * memory. False: none is free. */
static bool
put_in_way(const struct heap_objects *o, struct heap_leaf *leaf, uint32_t tier, uintptr_t address,
           uint64_t word, uint64_t claim, bool thrifty)
{
    struct heap_region *region = heap_region(leaf, tier, address);
    uint32_t ways = tier == 0 ? HEAP_WAYS : COARSE_WAYS;

    for (uint32_t way = 0; way < ways; way++) {
        uint32_t there = load_acquire(&region->ways);

        if (way > there && ((thrifty && !is_way_worth(o, leaf, tier, way, address)) ||
                            !is_affordable(leaf, tier, way, address) ||
                            !begin_way(leaf, tier, way, address)))
            return false;
        // Before the word is there, so that whoever has the object sees it.
        while (way > there && !cas_acq_rel(&region->ways, &there, way))
            ;
        if (put(heap_word(leaf, tier, way, address), region, word, claim))
            return true;
    }
    return false;
}

/* The place of the object at ADDRESS of the instance with CLAIM in a tier; NULL if it is not
 * there. */
static uint64_t *
find_in(uint32_t tier, uintptr_t address, uint64_t claim)
{
    struct heap_leaf *leaf = heap_leaf(tier, address);
    const struct heap_region *region;

    if (leaf == NULL || !heap_is_begun(leaf, tier, address))
        return NULL;
    region = heap_region(leaf, tier, address);
    if (heap_claims_find(region->claims, claim) == NOBODY)
        return NULL;
    for (uint32_t way = 0; way <= load_acquire(&region->ways); way++) {
        uint64_t *place = heap_word(leaf, tier, way, address);

        if (heap_word_is(tier, load_relaxed(place), region, claim, address))
            return place;
    }
    return NULL;
}

/* --- Tables ----------------------------------------------------------------------------------- */

/* The region of the last tier at ADDRESS, NULL if it has not been used. */
static struct heap_region *
last_region(uintptr_t address)
{
    struct heap_leaf *leaf = heap_leaf(HEAP_TIERS - 1, address);

    return leaf != NULL && heap_is_begun(leaf, HEAP_TIERS - 1, address)
               ? heap_region(leaf, HEAP_TIERS - 1, address)
               : NULL;
}

/* Note that the table of O has objects without a word that begin at ADDRESS. */
static void
tell_tabled(struct heap_objects *o, uintptr_t address)
{
    uint64_t claim = load_acquire(&o->claim), there;
    struct heap_leaf *leaf = heap_leaf(HEAP_TIERS - 1, address);
    struct heap_region *region;

    if (leaf == NULL && is_affordable(leaf, HEAP_TIERS - 1, 0, address))
        leaf = leaf_make(HEAP_TIERS - 1, address);
    if (leaf == NULL || !is_affordable(leaf, HEAP_TIERS - 1, 0, address) ||
        !begin_region(leaf, HEAP_TIERS - 1, address)) {
        store_relaxed(&o->untold, 1u);
        return;
    }
    region = heap_region(leaf, HEAP_TIERS - 1, address);
    there = load_relaxed(&region->elsewhere);
    while (there != claim && there != HEAP_CLAIM_SEVERAL &&
           !cas_acq_rel(&region->elsewhere, &there,
                        there == 0 || !heap_claim_is_current(there) ? claim : HEAP_CLAIM_SEVERAL))
        ;
}

/* May the table of O have objects without a word that begin at ADDRESS? */
static bool
is_tabled(const struct heap_objects *o, uintptr_t address, uint64_t claim)
{
    struct heap_region *region;
    uint64_t there;

    if (load_relaxed(&o->untold))
        return true;
    if (likely(load_acquire(&o->table.levels[0]) == NULL))
        return false;
    region = last_region(address);
    there = region != NULL ? load_relaxed(&region->elsewhere) : 0;
    // Of an instance that has been emptied since.
    if (unlikely(there > HEAP_CLAIM_TURN_MASK) && !heap_claim_is_current(there))
        cas_acq_rel(&region->elsewhere, &there, UINT64_C(0));
    return there == claim || there == HEAP_CLAIM_SEVERAL;
}

/* --- Elsewhere -------------------------------------------------------------------------------- */

static uint32_t
granule_number(uintptr_t address)
{
    return address >> heap_granule_bits(0) & (HEAP_REGION_WORDS - 1);
}

/* The bits of the granules from which on an object begins that the granule at ADDRESS of a coarse
 * tier has, as far as they are in the region of the first tier at START. */
static uint64_t
granules_of(uint32_t tier, uintptr_t address, uintptr_t start)
{
    struct heap_leaf *leaf = heap_leaf(tier, address);
    uintptr_t granule_bytes = (uintptr_t)1 << heap_granule_bits(tier);
    uint64_t bits = 0;

    if (leaf == NULL || !heap_is_begun(leaf, tier, address))
        return 0;
    for (uint32_t way = 0; way <= load_acquire(&heap_region(leaf, tier, address)->ways); way++) {
        uint64_t word = load_relaxed(heap_word(leaf, tier, way, address));
        uintptr_t at = round_down(address, granule_bytes) +
                       (word >> HEAP_WORD_SUB & (granule_bytes - 1));

        if (word != 0 && region_start(0, at) == start)
            bits |= UINT64_C(1) << granule_number(at);
    }
    return bits;
}

/* Note in the region of the first tier at ADDRESS what other tiers have there. Before it gets a
 * claim: whoever puts an object elsewhere from now on notes it there himself. */
static void
look_elsewhere(struct heap_region *region, uintptr_t address)
{
    uintptr_t start = region_start(0, address);
    struct heap_region *last = last_region(address);
    uint64_t bits = heap_sparse_granules(start, (uintptr_t)1 << heap_granule_bits(0));

    for (uint32_t tier = 1; tier < HEAP_TIERS; tier++)
        for (uintptr_t at = start; region_start(0, at) == start;
             at += (uintptr_t)1 << heap_granule_bits(tier))
            bits |= granules_of(tier, at, start);
    if (last != NULL && load_acquire(&last->elsewhere) != 0)
        bits = UINT64_MAX;
    if (bits & ~load_relaxed(&region->elsewhere))
        or_seq_cst(&region->elsewhere, bits);
}

/* An object at ADDRESS is not in the first tier. */
static void
note_elsewhere(uintptr_t address)
{
    struct heap_leaf *leaf = heap_leaf(0, address);

    if (leaf != NULL && heap_is_begun(leaf, 0, address))
        or_seq_cst(&heap_region(leaf, 0, address)->elsewhere,
                   UINT64_C(1) << granule_number(address));
}

/* Nothing was found elsewhere at ADDRESS: forget that something might be. Not among threads: one
 * that has an object there could miss the bit while it is being set again. */
static void
forget_elsewhere(uintptr_t address)
{
    struct heap_leaf *leaf = heap_leaf(0, address);
    struct heap_region *region;
    uint64_t bit = UINT64_C(1) << granule_number(address);

    if (load_relaxed(&state->multi) || leaf == NULL || !heap_is_begun(leaf, 0, address))
        return;
    region = heap_region(leaf, 0, address);
    if ((load_relaxed(&region->elsewhere) & bit) == 0)
        return;
    and_seq_cst(&region->elsewhere, ~bit);
    look_elsewhere(region, address);
}

/* --- Where an object goes --------------------------------------------------------------------- */

/* Are fewer words than it is worth in the region of O in TIER that it has claimed before this? */
static bool
is_sparse(const struct heap_objects *o, uint32_t tier)
{
    uintptr_t before = load_relaxed(&o->latest[tier]);
    struct heap_leaf *leaf = before != 0 ? heap_leaf(tier, before) : NULL;

    return leaf != NULL && count_words(leaf, tier, 0, before) < DENSE_WORDS;
}

/* Is TIER dense at ADDRESS as far as O can tell, or does it take no memory there? */
static bool
is_worth(const struct heap_objects *o, uint32_t tier, uintptr_t address)
{
    struct heap_leaf *leaf = heap_leaf(tier, address);

    return (leaf != NULL && heap_is_begun(leaf, tier, address)) || !is_sparse(o, tier);
}

/* The tier from TIER on that an object of O at ADDRESS should be in: the finest that is worth it;
 * HEAP_TIERS if none is. */
static uint32_t
tier_of(const struct heap_objects *o, uintptr_t address, uint32_t tier)
{
    while (tier < HEAP_TIERS && !is_worth(o, tier, address))
        tier++;
    return tier;
}

/* Keep B at ADDRESS in a tier. False: there is no room, or no memory. */
static bool
insert_in(struct heap_objects *o, uint32_t tier, uintptr_t address, struct heap_block b,
          uint64_t claim, bool thrifty)
{
    struct heap_leaf *leaf = heap_leaf(tier, address);
    struct heap_region *region;
    uint32_t number;

    if (address >> ARCH_ADDRESS_BITS || !is_affordable(leaf, tier, 0, address))
        return false;
    if (leaf == NULL && (leaf = leaf_make(tier, address)) == NULL)
        return false;
    if (!begin_region(leaf, tier, address))
        return false;
    region = heap_region(leaf, tier, address);
    number = heap_claims_find(region->claims, claim);
    if (number == NOBODY) {
        if (tier == 0)
            look_elsewhere(region, address);
        if ((load_relaxed(&o->used_tiers) >> tier & 1) == 0)
            or_seq_cst(&o->used_tiers, 1u << tier);
        number = claim_anew(leaf, tier, address, claim);
        if (number == NOBODY)
            return false;
        store_relaxed(&o->before[tier], load_relaxed(&o->latest[tier]));
        store_relaxed(&o->latest[tier], address);
    }
    if (!put_in_way(o, leaf, tier, address, heap_word_of(tier, address, b, number), claim,
                    thrifty))
        return false;
    if (tier > 0)
        note_elsewhere(address);
    return true;
}

/* The tier to try as number I, if the object should be in FIRST: the coarser ones, as long as they
 * are worth it, then all, from the coarsest on, whose ways take the least memory. */
static uint32_t
tier_to_try(uint32_t i, uint32_t first)
{
    uint32_t thrifty = HEAP_TIERS - first;

    return i < thrifty ? first + i : HEAP_TIERS - 1 - (i - thrifty);
}

/* Keep B at ADDRESS in a tier from FIRST on, among the sparse objects, or in the table if neither
 * has room. False: no memory. */
static bool
insert_in_any(struct heap_objects *o, uint32_t first, uintptr_t address, struct heap_block b,
              uint64_t claim)
{
    uint32_t thrifty = HEAP_TIERS - first;
    bool tabled = false;

    for (uint32_t i = 0; i < thrifty + HEAP_TIERS; i++) {
        uint32_t tier = tier_to_try(i, first);
        struct heap_block word = b;

        if (i == thrifty && !tabled && heap_sparse_insert(o, address, b)) {
            note_elsewhere(address);
            return true;
        }
        if (i < thrifty && ((b.count == 1 && !heap_word_holds(tier, b)) ||
                            !is_worth(o, tier, address)))
            continue;
        if (tabled || !heap_word_holds(tier, b)) {
            if (!tabled && !heap_map_insert(&o->table, (void *)address, b))
                return false;
            tabled = true;
            word.count = 0;
            word.size_bytes = heap_word_bytes_max(tier);
        }
        if (insert_in(o, tier, address, word, claim, i < thrifty))
            return true;
    }
    tell_tabled(o, address);
    note_elsewhere(address);
    return tabled || heap_map_insert(&o->table, (void *)address, b);
}

/* Does O have an object at ADDRESS in a tier but TIER, or in its table? */
static bool
is_elsewhere(struct heap_objects *o, uint32_t tier, uintptr_t address, uint64_t claim)
{
    uint32_t others = load_relaxed(&o->used_tiers) & ~(1u << tier);

    for (; others != 0; others &= others - 1)
        if (find_in((uint32_t)__builtin_ctz(others), address, claim) != NULL)
            return true;
    return is_tabled(o, address, claim);
}

/* Find a free word for B at ADDRESS in TIER that takes no memory. Return its place, and its region
 * and the number of the claim of O there; NULL if none is free, or O has an object there. */
static INLINE uint64_t *
begun_place(struct heap_objects *o, uint32_t tier, uintptr_t address, struct heap_block b,
            uint64_t claim, const struct heap_region **ret_region, uint32_t *ret_number)
{
    struct heap_leaf *leaf = heap_leaf(tier, address);

    if (leaf == NULL || !heap_is_begun(leaf, tier, address) || !heap_word_holds(tier, b))
        return NULL;
    *ret_region = heap_region(leaf, tier, address);
    *ret_number = heap_claim_number(o, *ret_region, claim);
    return *ret_number != HEAP_CLAIMS
               ? heap_objects_free_place(leaf, tier, *ret_region, address, claim)
               : NULL;
}

/* Remember B at ADDRESS where that takes no memory, in TIER, the finest for its size, or one that
 * is coarser, or else among the sparse objects. False: nothing was done, because there is no room,
 * or an object of O is at ADDRESS. */
static bool
insert_begun(struct heap_objects *o, uint32_t tier, uintptr_t address, struct heap_block b,
             uint64_t claim)
{
    uint32_t tiers = load_relaxed(&o->used_tiers) >> tier << tier, number;
    const struct heap_region *region;
    uint64_t *place = NULL;

    for (; tiers != 0 && place == NULL; tiers &= tiers - 1) {
        tier = (uint32_t)__builtin_ctz(tiers);
        place = begun_place(o, tier, address, b, claim, &region, &number);
    }
    if (is_elsewhere(o, place != NULL ? tier : HEAP_TIERS, address, claim))
        return false;
    if (place == NULL) {
        if (!load_relaxed(&o->sparse_used) || !heap_sparse_insert_free(o, address, b))
            return false;
    } else if ((unlikely(load_relaxed(&o->sparse_used)) && heap_sparse_has(o, address)) ||
               !put(place, region, heap_word_of(tier, address, b, number), claim))
        return false;
    if (place == NULL || tier > 0)
        note_elsewhere(address);
    return true;
}

/* Remember B at ADDRESS in TIER, if that takes no memory and O has objects in that tier alone.
 * False: nothing was done. */
static INLINE bool
insert_in_only_tier(struct heap_objects *o, uint32_t tier, uintptr_t address, struct heap_block b)
{
    uint64_t claim = load_acquire(&o->claim), *place;
    const struct heap_region *region;
    uint32_t number;

    if (unlikely(load_relaxed(&o->used_tiers) != 1u << tier) ||
        unlikely(load_relaxed(&o->sparse_used)) ||
        unlikely(load_acquire(&o->table.levels[0]) != NULL) || unlikely(load_relaxed(&o->untold)))
        return false;
    place = begun_place(o, tier, address, b, claim, &region, &number);
    if (unlikely(place == NULL) ||
        unlikely(!put(place, region, heap_word_of(tier, address, b, number), claim)))
        return false;
    note_elsewhere(address);
    return true;
}

bool
heap_objects_insert_coarse(struct heap_objects *o, const void *p, struct heap_block b)
{
    static_assert(HEAP_TIERS == 5, "each tier but the first has a case");
    switch (heap_tier_of_size(b.size_bytes)) {
    case 1: return insert_in_only_tier(o, 1, (uintptr_t)p, b);
    case 2: return insert_in_only_tier(o, 2, (uintptr_t)p, b);
    case 3: return insert_in_only_tier(o, 3, (uintptr_t)p, b);
    default: return insert_in_only_tier(o, 4, (uintptr_t)p, b);
    }
}

bool
heap_objects_insert_slowly(struct heap_objects *o, const void *p, struct heap_block b,
                           struct heap_block *ret_old)
{
    uintptr_t address = (uintptr_t)p;
    uint64_t claim = load_acquire(&o->claim);
    uint32_t tier = heap_tier_of_size(b.size_bytes);

    if (likely(insert_begun(o, tier, address, b, claim))) {
        ret_old->site = 0;
        return true;
    }
    *ret_old = heap_objects_remove_slowly(o, p);
    forget_elsewhere(address);
    return insert_in_any(o, tier_of(o, address, tier), address, b, claim);
}

struct heap_block
heap_objects_remove_slowly(struct heap_objects *o, const void *p)
{
    uintptr_t address = (uintptr_t)p;
    uint64_t claim = load_acquire(&o->claim);
    struct heap_block b = {0};

    for (uint32_t tiers = load_relaxed(&o->used_tiers); tiers != 0; tiers &= tiers - 1) {
        uint32_t tier = (uint32_t)__builtin_ctz(tiers);
        uint64_t *place = find_in(tier, address, claim), word;

        if (place == NULL)
            continue;
        word = load_relaxed(place);
        store_relaxed(place, UINT64_C(0));
        return heap_word_is_wide(tier, word) ? heap_map_remove(&o->table, p)
                                             : heap_word_says(tier, word);
    }
    if (load_relaxed(&o->sparse_used))
        b = heap_sparse_remove(o, address);
    if (b.site == 0 && is_tabled(o, address, claim))
        b = heap_map_remove(&o->table, p);
    return b;
}

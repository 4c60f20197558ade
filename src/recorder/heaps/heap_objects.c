/* heap_objects.c: stores the objects of the program's own heaps by address.
 *
 * Objects have addresses in the process, and most are near others. So they are stored like malloc's
 * blocks (ledger.c), in a flat shadow of the address space: neighbours share a cache line, and
 * entries are never moved. A sparse heap needs a coarser shadow than a dense one. So there are five
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
 * Granules and ways. An object occupies a free word of its granule: in the first way, else in the
 * second, and so on. Each way is a separate array, so one of its pages is touched only if some
 * granule there has that many objects. The finest tier has 64 ways, enough for objects of one byte
 * each. A count or size that does not fit in the word is stored in the instance's hash table
 * (heap_table.c).
 *
 * Choice of the tier. The insertion begins with the finest tier whose granule is not much shorter
 * than the object. If it would touch a new page, it examines the region that this heap claimed
 * last: if few words of that region are used, it tries the next coarser tier. The same test decides
 * if a way is worth another page. The last region may not be typical, so a page also needs a slot
 * (heap_quota.c). If no tier is worth a page, the object is stored as a sparse object
 * (heap_sparse.c). If heap_sparse.c has no room, the object occupies any free word, from the
 * coarsest tier on. So touched pages are mostly full, and an object costs 8 to 16 bytes in practice
 * (internals/heaps.md). A wrong choice costs only memory, because a lookup tries all tiers that
 * have a claim of the heap.
 *
 * Before this choice, the insertion looks for a free place that costs no memory: in the tiers that
 * are coarse enough for the size, finest first, then among the sparse objects (insert_begun).
 *
 * Dense heaps. An allocator with pages of equal sizes fills many pages in turn, so all regions look
 * sparse until they are full, and all objects would become sparse ones, whose events cost several
 * times as much. A heap that is declared dense therefore always uses the finest tier for the size
 * of the object. The memory is bounded by the pages in which objects begin: each way of the first
 * tier takes an eighth of them, and has at most a word for 16 bytes.
 *
 * Fast path. Inline code reads only words of the finest tier. Larger objects need one more call
 * (heap_objects_insert_coarse, heap_free_begun), with separate code for each tier. An object in the
 * finest tier may hide an older object at the same address in a coarser tier, if the end of the
 * older object was not seen. So a region of the finest tier has a bit for each granule, which is
 * set if an object of the granule may be in another tier; the inline code does not handle such
 * granules. Two kinds of threads set the bit: a thread that has stored an object in another tier,
 * and a thread that claims the region, after marking its pages as begun. The later of two such
 * threads sees the effect of the earlier one.
 *
 * Instances. An address has a meaning only within its instance: the first object of an arena begins
 * at the start of the arena's chunk, which may be an object of another heap, and a program may use
 * offsets. A region lists up to six *claims*, the numbers of the instances whose objects begin
 * there, and a word contains the index of a claim. A reset gives the instance a new number, so all
 * its claims become stale at once. A stale word counts as free. Before the place of a stale claim
 * is reused, all words of stale claims are wiped from the region, so no other instance inherits a
 * word. If no claim or no word is free, an object is stored in the hash table alone; the region of
 * the coarsest tier records the table's instance.
 *
 * Threads. An object has one owner from before its insertion until after its removal, so a plain
 * store removes it. Two instances may insert at one place concurrently, so an insertion is a CAS.
 * While the program has one thread, the CAS has no lock prefix. A claim is marked HEAP_CLAIM_BUSY
 * before it is reused. After inserting a word, a thread checks that its claim is still in the
 * region, and otherwise removes the word. The claim is missing only if another thread resets the
 * heap at the same time.
 *
 * Memory. Each page is charged (mem_charge) before it is touched, so a memory limit is exact to the
 * page. If there is no room, the object is refused, and the caller counts the loss. A page that was
 * not charged must not be read either, because the kernel would count it as resident. Rejected: a
 * hash table of all objects needs 16 bytes per object, but only if entries move when it grows, and
 * a signal handler may interrupt a move at any instruction. A single tier with as many ways needs 8
 * bytes per object where objects are dense, but up to a page per object where they are not.
 *
 * A child made by fork sees zeros, as in all the recorder's private memory. With a reserve of
 * memory there is no room for a shadow, and all objects are in tables.
 */
#include "heaps/heap_objects.h"

#include "heaps/heap_instance.h"
#include "heaps/heap_sparse.h"
#include "heaps/heaps_state.h"
#include "platform/mem.h"

enum {
    NOBODY = HEAP_CLAIMS,
    // Bytes charged for a leaf before its first object.
    LEAF_BYTES = HEAP_PAGE_BYTES + offsetof(struct heap_leaf, regions),
    REGION_PAGE_UNITS = 8, // Number of units whose regions share a page.
    UNIT_GRANULES = 512,
    LEAF_UNITS = (1 << HEAP_LEAF_BITS) / UNIT_GRANULES,
    UNIT_FILLED_BYTES = 15,     // A unit with at most this number of bytes per word is full enough.
    FINE_QUOTA_PAGES = 96, // Maximum total of pages of all units of the first tier that have a
                           // slot.
    COARSE_QUOTA_PAGES = 48, // Maximum total of pages of all units of each other tier that have a
                             // slot.
    COARSE_WAYS = 32, // Number of ways of a granule, in all tiers but the first.
    DENSE_WORDS = 50, // With this number of words in its first way, a region saves memory.
    WAY_WORDS = 54,   // If one way has this number of words, the next way is worth a page.
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
    store_relaxed(&o->untracked, 0u);
    // After a reset, objects may be at other addresses, and closer together or further apart.
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
    // The page of the top level that has the pointer to the leaf may be untouched. Charge it too.
    return heap_memory_once(&top[address >> span_bits], sizeof **top, LEAF_BYTES);
}

/* Charge page PAGE and set its bit in BITS. Return false if that would exceed the memory limit. */
static bool
begin_page(uint64_t *bits, uint32_t page)
{
    uint64_t bit = UINT64_C(1) << page % 64;

    if (heap_page_is_begun(bits, page))
        return true;
    if (!mem_charge(HEAP_PAGE_BYTES))
        return false;
    if (or_seq_cst(&bits[page / 64], bit) & bit)
        mem_uncharge(HEAP_PAGE_BYTES); // Another thread has charged it.
    return true;
}

/* Prepare the words of WAY for the region at ADDRESS in LEAF. Return false if memory is
 * exhausted. */
static bool
begin_way(struct heap_leaf *leaf, uint32_t tier, uint32_t way, uintptr_t address)
{
    uint32_t group = way > 0 ? 31 - (uint32_t)__builtin_clz(way) : 0;

    if (way > 0 && heap_memory_once(&leaf->further[group], sizeof leaf->first << group, 0) == NULL)
        return false;
    return begin_page(leaf->pages[way], heap_page_of_words(tier, address));
}

/* Prepare the region at ADDRESS in LEAF, and its first words. Return false if memory is
 * exhausted. */
static bool
begin_region(struct heap_leaf *leaf, uint32_t tier, uintptr_t address)
{
    uint32_t index = (uint32_t)(heap_region(leaf, tier, address) - leaf->regions);

    return begin_page(leaf->region_pages, index / 64) && begin_way(leaf, tier, 0, address);
}

/* --- Quota ------------------------------------------------------------------------------------ */

/* Return the key of the slot for the unit at ADDRESS. A unit is the set of granules whose words
 * share a page. */
static uint64_t
heap_objects_unit_of(uint32_t tier, uintptr_t address)
{
    return round_down(address, (uintptr_t)UNIT_GRANULES << heap_granule_bits(tier)) | (tier + 1);
}

static uint32_t
unit_tier(uint64_t unit)
{
    return (uint32_t)(unit & (HEAP_PAGE_BYTES - 1)) - 1;
}

/* Return the number of pages with words that UNIT of LEAF has begun. */
static uint32_t
unit_pages(const struct heap_leaf *leaf, uint64_t unit)
{
    uint32_t page = heap_page_of_words(unit_tier(unit), unit), pages = 0;

    for (uint32_t way = 0; way < HEAP_WAYS; way++)
        pages += heap_page_is_begun(leaf->pages[way], page);
    return pages;
}

/* Return the number of used words of WAY in UNIT of LEAF. */
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

/* Return the number of units that have touched memory, among COUNT units of LEAF from number FIRST
 * on. */
static uint32_t
units_begun(const struct heap_leaf *leaf, uint32_t first, uint32_t count)
{
    uint32_t begun = 0;

    for (uint32_t page = first; page < first + count; page++)
        begun += heap_page_is_begun(leaf->pages[0], page);
    return begun;
}

/* Return the waste of UNIT in bytes: its cost minus UNIT_FILLED_BYTES for each of its words. Units
 * share the cost of their leaf, and of the page with their regions. */
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
    return cost_bytes > words * UNIT_FILLED_BYTES ? cost_bytes - words * UNIT_FILLED_BYTES : 0;
}

/* Return true if the units with a slot in TIER have so few pages that a further page is allowed. */
static bool
is_page_affordable(uint32_t tier)
{
    const struct heap_quota *s = &heaps_state()->heaps->quotas[tier];
    uint32_t pages = 0;

    for (uint32_t i = 0; i < HEAP_QUOTA_SLOTS; i++) {
        uint64_t unit = load_relaxed(&s->open[i]);
        struct heap_leaf *leaf = unit != 0 ? heap_leaf(tier, unit) : NULL;

        pages += leaf != NULL ? unit_pages(leaf, unit) : 0;
    }
    return pages < (tier == 0 ? FINE_QUOTA_PAGES : COARSE_QUOTA_PAGES);
}

/* Return true if O may use WAY of the unit at ADDRESS, even if its use touches a new page. LEAF may
 * be NULL. */
static bool
is_affordable(const struct heap_objects *o, const struct heap_leaf *leaf, uint32_t tier,
              uint32_t way, uintptr_t address)
{
    if (load_relaxed(&o->is_dense))
        return true;
    if (leaf != NULL && heap_page_is_begun(leaf->pages[way], heap_page_of_words(tier, address)))
        return true;
    return heap_quota_take(&heaps_state()->heaps->quotas[tier],
                           heap_objects_unit_of(tier, address), unit_waste,
                           &heaps_state()->heaps->evicted_bytes) &&
           (way == 0 || is_page_affordable(tier));
}

/* --- Words ------------------------------------------------------------------------------------ */

/* Replace *CURRENT by WORD at PLACE. If the word at PLACE differs from *CURRENT, store it in
 * *CURRENT and return false. */
static inline bool
heap_objects_exchange(uint64_t *place, uint64_t *current, uint64_t word)
{
    return likely(!load_relaxed(&state->multi)) ? arch_cas_alone(place, current, word)
                                                : cas_acq_rel(place, current, word);
}

/* Return the first address of the region at ADDRESS. */
static uintptr_t
region_start(uint32_t tier, uintptr_t address)
{
    return round_down(address, (uintptr_t)HEAP_REGION_WORDS << heap_granule_bits(tier));
}

/* Remove from REGION, at ADDRESS in LEAF, all words whose claims have a bit in GONE. */
static void
wipe(struct heap_leaf *leaf, uint32_t tier, const struct heap_region *region, uintptr_t address,
     uint32_t gone)
{
    uintptr_t first = region_start(tier, address);

    for (uint32_t way = 0; way <= load_acquire(&region->ways); way++) {
        for (uint32_t i = 0; i < HEAP_REGION_WORDS; i++) {
            uint64_t *place = heap_word(leaf, tier, way,
                                        first + ((uintptr_t)i << heap_granule_bits(tier)));
            uint64_t current = load_relaxed(place);

            while (current != 0 && gone >> heap_word_claim(current) & 1)
                if (heap_objects_exchange(place, &current, 0))
                    break;
        }
    }
}

/* Reuse the place of a stale claim in the region at ADDRESS in LEAF for CLAIM. Return CLAIM's
 * number, or NOBODY if no claim is stale. */
static COLD uint32_t
take_stale(struct heap_leaf *leaf, uint32_t tier, uintptr_t address, uint64_t claim)
{
    struct heap_region *region = heap_region(leaf, tier, address);
    uint32_t gone = heap_claims_mark_stale(region->claims);

    if (gone == 0)
        return NOBODY;
    wipe(leaf, tier, region, address, gone);
    if (gone == (1u << HEAP_CLAIMS) - 1)
        store_relaxed(&region->ways, 0u); // Reset the number of ways, because all words of those
                                          // ways were wiped.
    return heap_claims_reuse(region->claims, gone, claim);
}

/* Add CLAIM to the region at ADDRESS in LEAF. Return its number, or NOBODY if other instances
 * occupy all places. */
static uint32_t
claim_anew(struct heap_leaf *leaf, uint32_t tier, uintptr_t address, uint64_t claim)
{
    uint32_t number = heap_claims_add(heap_region(leaf, tier, address)->claims, claim);

    return number != NOBODY ? number : take_stale(leaf, tier, address, claim);
}

/* Store WORD at PLACE of REGION if the present word is free or stale. Return false otherwise. */
static bool
heap_objects_put(uint64_t *place, const struct heap_region *region, uint64_t word, uint64_t claim)
{
    uint64_t current = load_relaxed(place);

    while (likely(current == 0) ||
           !heap_claim_is_current(load_acquire(&region->claims[heap_word_claim(current)]))) {
        if (current != 0 &&
            load_acquire(&region->claims[heap_word_claim(current)]) == HEAP_CLAIM_BUSY)
            return false;
        if (!heap_objects_exchange(place, &current, word))
            continue;
        // Paired with take_stale: either take_stale sees the word, or this thread sees that the
        // claim is gone.
        if (likely(load_seq_cst(&region->claims[heap_word_claim(word)]) == claim))
            return true;
        heap_objects_exchange(place, &word, 0);
        return false;
    }
    return false;
}

/* Return the number of used words of WAY in the region at ADDRESS in LEAF. */
static uint32_t
heap_objects_count_words(struct heap_leaf *leaf, uint32_t tier, uint32_t way, uintptr_t address)
{
    uintptr_t first = region_start(tier, address);
    uint32_t count = 0;

    // Examine eight granules at a time, because their words share a cache line.
    for (uint32_t i = 0; i < HEAP_REGION_WORDS; i += 1 << HEAP_LINE_BITS) {
        const uint64_t *line =
            heap_word(leaf, tier, way, first + ((uintptr_t)i << heap_granule_bits(tier)));

        for (uint32_t k = 0; k < 1 << HEAP_LINE_BITS; k++)
            count += load_relaxed(&line[k]) != 0;
    }
    return count;
}

/* Return true if WAY is worth a page at ADDRESS in LEAF, because the previous way is dense. O has
 * no words at ADDRESS yet, so the region that O claimed before decides. */
static bool
is_way_worth(const struct heap_objects *o, struct heap_leaf *leaf, uint32_t tier, uint32_t way,
             uintptr_t address)
{
    uintptr_t before = load_relaxed(&o->before[tier]);
    struct heap_leaf *sample = before != 0 ? heap_leaf(tier, before) : NULL;

    if (sample == NULL || load_relaxed(&o->is_dense) ||
        heap_page_is_begun(leaf->pages[way], heap_page_of_words(tier, address)))
        return true;
    return load_acquire(&heap_region(sample, tier, before)->ways) >= way - 1 &&
           heap_objects_count_words(sample, tier, way - 1, before) >= WAY_WORDS;
}

/* Store WORD in a way of the granule at ADDRESS in LEAF. If COMPACT, use only ways that are worth
 * their memory. Return false if no such way has a free word. */
static bool
put_in_way(const struct heap_objects *o, struct heap_leaf *leaf, uint32_t tier, uintptr_t address,
           uint64_t word, uint64_t claim, bool compact)
{
    struct heap_region *region = heap_region(leaf, tier, address);
    uint32_t ways = tier == 0 ? HEAP_WAYS : COARSE_WAYS;

    for (uint32_t way = 0; way < ways; way++) {
        uint32_t current = load_acquire(&region->ways);

        if (way > current && ((compact && !is_way_worth(o, leaf, tier, way, address)) ||
                              !is_affordable(o, leaf, tier, way, address) ||
                              !begin_way(leaf, tier, way, address)))
            return false;
        // Raise the number of ways before storing the word, so that the thread that frees the
        // object finds the word.
        while (way > current && !cas_acq_rel(&region->ways, &current, way))
            ;
        if (heap_objects_put(heap_word(leaf, tier, way, address), region, word, claim))
            return true;
    }
    return false;
}

/* Return the place of the object at ADDRESS in a tier that belongs to the instance with CLAIM.
 * Return NULL if there is none. */
static uint64_t *
heap_objects_find_in(uint32_t tier, uintptr_t address, uint64_t claim)
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

/* Return the region of the last tier at ADDRESS, or NULL if it was never used. */
static struct heap_region *
last_region(uintptr_t address)
{
    struct heap_leaf *leaf = heap_leaf(HEAP_TIERS - 1, address);

    return leaf != NULL && heap_is_begun(leaf, HEAP_TIERS - 1, address)
               ? heap_region(leaf, HEAP_TIERS - 1, address)
               : NULL;
}

/* Record that O's table has objects without a word that begin at ADDRESS. */
static void
count_tabled(struct heap_objects *o, uintptr_t address)
{
    uint64_t claim = load_acquire(&o->claim), current;
    struct heap_leaf *leaf = heap_leaf(HEAP_TIERS - 1, address);
    struct heap_region *region;

    if (leaf == NULL && is_affordable(o, leaf, HEAP_TIERS - 1, 0, address))
        leaf = leaf_make(HEAP_TIERS - 1, address);
    if (leaf == NULL || !is_affordable(o, leaf, HEAP_TIERS - 1, 0, address) ||
        !begin_region(leaf, HEAP_TIERS - 1, address)) {
        store_relaxed(&o->untracked, 1u);
        return;
    }
    region = heap_region(leaf, HEAP_TIERS - 1, address);
    current = load_relaxed(&region->other_tier);
    while (
        current != claim && current != HEAP_CLAIM_SEVERAL &&
        !cas_acq_rel(&region->other_tier, &current,
                     current == 0 || !heap_claim_is_current(current) ? claim : HEAP_CLAIM_SEVERAL))
        ;
}

/* Return true if O's table may have objects without a word that begin at ADDRESS. */
static bool
is_tabled(const struct heap_objects *o, uintptr_t address, uint64_t claim)
{
    struct heap_region *region;
    uint64_t current;

    if (load_relaxed(&o->untracked))
        return true;
    if (likely(load_acquire(&o->table.levels[0]) == NULL))
        return false;
    region = last_region(address);
    current = region != NULL ? load_relaxed(&region->other_tier) : 0;
    // The instance of the claim was reset since.
    if (unlikely(current > HEAP_CLAIM_TURN_MASK) && !heap_claim_is_current(current))
        cas_acq_rel(&region->other_tier, &current, UINT64_C(0));
    return current == claim || current == HEAP_CLAIM_SEVERAL;
}

/* --- Elsewhere -------------------------------------------------------------------------------- */

static uint32_t
granule_number(uintptr_t address)
{
    return address >> heap_granule_bits(0) & (HEAP_REGION_WORDS - 1);
}

/* Return a bit for each granule of the first tier's region at START, set if an object begins there.
 * Examine only the objects in the granule at ADDRESS of a coarse TIER. */
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

/* Set the bits of the first tier's region at ADDRESS for granules with objects in other tiers. Call
 * before the region gets a claim: later insertions into other tiers set their bits themselves. */
static void
find_in_other_tier(struct heap_region *region, uintptr_t address)
{
    uintptr_t start = region_start(0, address);
    struct heap_region *last = last_region(address);
    uint64_t bits = heap_sparse_granules(start, (uintptr_t)1 << heap_granule_bits(0));

    for (uint32_t tier = 1; tier < HEAP_TIERS; tier++)
        for (uintptr_t at = start; region_start(0, at) == start;
             at += (uintptr_t)1 << heap_granule_bits(tier))
            bits |= granules_of(tier, at, start);
    if (last != NULL && load_acquire(&last->other_tier) != 0)
        bits = UINT64_MAX;
    if (bits & ~load_relaxed(&region->other_tier))
        or_seq_cst(&region->other_tier, bits);
}

/* Record that an object at ADDRESS is not in the first tier. */
static void
note_other_tier(uintptr_t address)
{
    struct heap_leaf *leaf = heap_leaf(0, address);

    if (leaf != NULL && heap_is_begun(leaf, 0, address))
        or_seq_cst(&heap_region(leaf, 0, address)->other_tier,
                   UINT64_C(1) << granule_number(address));
}

/* Clear the bit of ADDRESS if no other tier has an object at ADDRESS. Has no effect with several
 * threads: before the bit is set again, one of them could look for its object and miss the bit. */
static void
clear_other_tier(uintptr_t address)
{
    struct heap_leaf *leaf = heap_leaf(0, address);
    struct heap_region *region;
    uint64_t bit = UINT64_C(1) << granule_number(address);

    if (load_relaxed(&state->multi) || leaf == NULL || !heap_is_begun(leaf, 0, address))
        return;
    region = heap_region(leaf, 0, address);
    if ((load_relaxed(&region->other_tier) & bit) == 0)
        return;
    and_seq_cst(&region->other_tier, ~bit);
    find_in_other_tier(region, address);
}

/* --- Where an object goes --------------------------------------------------------------------- */

/* Return true if the region that O claimed last in TIER has too few words to be worth its
 * memory. */
static bool
is_sparse(const struct heap_objects *o, uint32_t tier)
{
    uintptr_t before = load_relaxed(&o->latest[tier]);
    struct heap_leaf *leaf = before != 0 ? heap_leaf(tier, before) : NULL;

    return leaf != NULL && heap_objects_count_words(leaf, tier, 0, before) < DENSE_WORDS;
}

/* Return true if TIER is or seems dense for O, or if its page at ADDRESS is already in use. */
static bool
is_worth(const struct heap_objects *o, uint32_t tier, uintptr_t address)
{
    struct heap_leaf *leaf = heap_leaf(tier, address);

    if (load_relaxed(&o->is_dense))
        return true;
    return (leaf != NULL && heap_is_begun(leaf, tier, address)) || !is_sparse(o, tier);
}

/* Return the finest tier, TIER or coarser, that is worth its memory for an object of O at ADDRESS.
 * Return HEAP_TIERS if no tier is. */
static uint32_t
tier_of(const struct heap_objects *o, uintptr_t address, uint32_t tier)
{
    while (tier < HEAP_TIERS && !is_worth(o, tier, address))
        tier++;
    return tier;
}

/* Insert B at ADDRESS in TIER. Return false if there is no room or memory is exhausted. */
static bool
insert_in(struct heap_objects *o, uint32_t tier, uintptr_t address, struct heap_block b,
          uint64_t claim, bool compact)
{
    struct heap_leaf *leaf = heap_leaf(tier, address);
    struct heap_region *region;
    uint32_t number;

    if (address >> ARCH_ADDRESS_BITS || !is_affordable(o, leaf, tier, 0, address))
        return false;
    if (leaf == NULL && (leaf = leaf_make(tier, address)) == NULL)
        return false;
    if (!begin_region(leaf, tier, address))
        return false;
    region = heap_region(leaf, tier, address);
    number = heap_claims_find(region->claims, claim);
    if (number == NOBODY) {
        if (tier == 0)
            find_in_other_tier(region, address);
        if ((load_relaxed(&o->used_tiers) >> tier & 1) == 0)
            or_seq_cst(&o->used_tiers, 1u << tier);
        number = claim_anew(leaf, tier, address, claim);
        if (number == NOBODY)
            return false;
        store_relaxed(&o->before[tier], load_relaxed(&o->latest[tier]));
        store_relaxed(&o->latest[tier], address);
    }
    if (!put_in_way(o, leaf, tier, address, heap_word_of(tier, address, b, number), claim,
                    compact))
        return false;
    if (tier > 0)
        note_other_tier(address);
    return true;
}

/* Return the tier to try in round I for an object whose best tier is FIRST. The first rounds try
 * the coarser tiers, if they are worth their memory. The later rounds try all tiers from the
 * coarsest on, because coarse ways need the least memory. */
static uint32_t
tier_to_try(uint32_t i, uint32_t first)
{
    uint32_t compact = HEAP_TIERS - first;

    return i < compact ? first + i : HEAP_TIERS - 1 - (i - compact);
}

/* Insert B at ADDRESS in a tier from FIRST on, else among the sparse objects, else in the table.
 * Return false if memory is exhausted. */
static bool
insert_in_any(struct heap_objects *o, uint32_t first, uintptr_t address, struct heap_block b,
              uint64_t claim)
{
    uint32_t compact = HEAP_TIERS - first;
    bool tabled = false;

    for (uint32_t i = 0; i < compact + HEAP_TIERS; i++) {
        uint32_t tier = tier_to_try(i, first);
        struct heap_block word = b;

        if (i == compact && !tabled && heap_sparse_insert(o, address, b)) {
            note_other_tier(address);
            return true;
        }
        if (i < compact && ((b.count == 1 && !heap_word_fits(tier, b)) ||
                            !is_worth(o, tier, address)))
            continue;
        if (tabled || !heap_word_fits(tier, b)) {
            if (!tabled && !heap_map_insert(&o->table, (void *)address, b))
                return false;
            tabled = true;
            word.count = 0;
            word.size_bytes = heap_word_bytes_max(tier);
        }
        if (insert_in(o, tier, address, word, claim, i < compact))
            return true;
    }
    count_tabled(o, address);
    note_other_tier(address);
    return tabled || heap_map_insert(&o->table, (void *)address, b);
}

/* Return true if O has an object at ADDRESS in a tier other than TIER, or in its table. */
static bool
is_in_other_tier(struct heap_objects *o, uint32_t tier, uintptr_t address, uint64_t claim)
{
    uint32_t others = load_relaxed(&o->used_tiers) & ~(1u << tier);

    for (; others != 0; others &= others - 1)
        if (heap_objects_find_in((uint32_t)__builtin_ctz(others), address, claim) != NULL)
            return true;
    return is_tabled(o, address, claim);
}

/* Find a free word for B at ADDRESS in TIER that needs no new memory. Return its place, its region,
 * and the number of O's claim in the region. Return NULL if no word is free, or if O has an object
 * at ADDRESS. */
static INLINE uint64_t *
begun_place(struct heap_objects *o, uint32_t tier, uintptr_t address, struct heap_block b,
            uint64_t claim, const struct heap_region **ret_region, uint32_t *ret_number)
{
    struct heap_leaf *leaf = heap_leaf(tier, address);

    if (leaf == NULL || !heap_is_begun(leaf, tier, address) || !heap_word_fits(tier, b))
        return NULL;
    *ret_region = heap_region(leaf, tier, address);
    *ret_number = heap_claim_number(o, *ret_region, claim);
    return *ret_number != HEAP_CLAIMS
               ? heap_objects_free_place(leaf, tier, *ret_region, address, claim)
               : NULL;
}

/* Insert B at ADDRESS where that needs no new memory: in TIER, the finest for its size, in a
 * coarser tier, or among the sparse objects; if O is dense, in TIER alone. If there is no room, or
 * if O has an object at ADDRESS, have no effect and return false. */
static bool
insert_begun(struct heap_objects *o, uint32_t tier, uintptr_t address, struct heap_block b,
             uint64_t claim)
{
    uint32_t is_dense = load_relaxed(&o->is_dense), number;
    uint32_t tiers = load_relaxed(&o->used_tiers) & (is_dense ? 1u << tier : UINT32_MAX << tier);
    const struct heap_region *region;
    uint64_t *place = NULL;

    for (; tiers != 0 && place == NULL; tiers &= tiers - 1) {
        tier = (uint32_t)__builtin_ctz(tiers);
        place = begun_place(o, tier, address, b, claim, &region, &number);
    }
    if (is_in_other_tier(o, place != NULL ? tier : HEAP_TIERS, address, claim))
        return false;
    if (place == NULL) {
        if (is_dense || !load_relaxed(&o->sparse_used) || !heap_sparse_insert_free(o, address, b))
            return false;
    } else if ((unlikely(load_relaxed(&o->sparse_used)) && heap_sparse_has(o, address)) ||
               !heap_objects_put(place, region, heap_word_of(tier, address, b, number), claim))
        return false;
    if (place == NULL || tier > 0)
        note_other_tier(address);
    return true;
}

/* Insert B at ADDRESS in TIER, if that needs no new memory and O has objects in this tier alone.
 * Otherwise have no effect and return false. */
static INLINE bool
insert_in_only_tier(struct heap_objects *o, uint32_t tier, uintptr_t address, struct heap_block b)
{
    uint64_t claim = load_acquire(&o->claim), *place;
    const struct heap_region *region;
    uint32_t number;

    if (unlikely(load_relaxed(&o->used_tiers) != 1u << tier) ||
        unlikely(load_relaxed(&o->sparse_used)) ||
        unlikely(load_acquire(&o->table.levels[0]) != NULL) ||
        unlikely(load_relaxed(&o->untracked)))
        return false;
    place = begun_place(o, tier, address, b, claim, &region, &number);
    if (unlikely(place == NULL) ||
        unlikely(!heap_objects_put(place, region, heap_word_of(tier, address, b, number), claim)))
        return false;
    note_other_tier(address);
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
heap_objects_insert_slow(struct heap_objects *o, const void *p, struct heap_block b,
                         struct heap_block *ret_old)
{
    uintptr_t address = (uintptr_t)p;
    uint64_t claim = load_acquire(&o->claim);
    uint32_t tier = heap_tier_of_size(b.size_bytes);

    if (likely(insert_begun(o, tier, address, b, claim))) {
        ret_old->site = 0;
        return true;
    }
    *ret_old = heap_objects_remove_slow(o, p);
    clear_other_tier(address);
    return insert_in_any(o, tier_of(o, address, tier), address, b, claim);
}

struct heap_block
heap_objects_remove_slow(struct heap_objects *o, const void *p)
{
    uintptr_t address = (uintptr_t)p;
    uint64_t claim = load_acquire(&o->claim);
    struct heap_block b = {0};

    for (uint32_t tiers = load_relaxed(&o->used_tiers); tiers != 0; tiers &= tiers - 1) {
        uint32_t tier = (uint32_t)__builtin_ctz(tiers);
        uint64_t *place = heap_objects_find_in(tier, address, claim), word;

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

/* heap_objects.c: which objects one of the program's own heaps holds.
 *
 * Objects lie at addresses of the process, and near one another. So they are kept as malloc's
 * blocks are (ledger.c), in a flat shadow of the address space, where neighbours share a line of
 * the cache and nothing is searched for:
 *
 *     address ── top 23 bits ──► top level ──► leaf: shadow of 2^24 bytes, mapped on demand
 *
 *     leaf    words[2][]   two for each 32 bytes       regions[]   64 bytes for each 4 KiB
 *
 *     63        44 43   38 37    35 34   30 29     22 21       0
 *     |   size    | count | claim  |  sub  |  birth  |   site   |       0 = no object begins here
 *
 * An object goes into the first word of its granule, or, if another one is there, into the second;
 * so the second half of a leaf is only touched where objects of less than 32 bytes lie side by side
 * (conses, strings in an arena). sub is where in the granule it begins.
 *
 * Unlike malloc's, these addresses mean something within their instance only: the first object of
 * an arena begins where its chunk does, which may be an object of another heap, and a program may
 * use offsets. And an instance can be emptied at once, however many objects it has. Both are the
 * regions' business. A region lists up to six *claims*, the numbers of the instances whose objects
 * begin there, and a word says by which of these it was put in. An instance that is emptied takes
 * another number, so all its claims are stale at once. A stale word is as good as none; it is
 * overwritten, and before the place of a stale claim is given to another all words of stale claims
 * are wiped from the region, so that a word never belongs to whom it was not put in by. That is a
 * matter of 1 or 2 KiB at a time, for up to six claims at once.
 *
 * What does not fit goes to a hash table of the instance (heap_table.c): objects of more than 512
 * bytes (for these the shadow would take more than the table), of many at once, the third one in a
 * granule, and those in a region where six others have claims, or where another instance has an
 * object at this very place. The region notes whose table has any that begin there, so nobody else
 * looks for his in vain.
 *
 * Threads. An object has one owner from before it comes until after it has gone, so it is taken out
 * by a plain store. But a place may be wanted by two instances at once, so it is taken by comparing
 * and exchanging, without the lock as long as there is one thread. A claim is taken away by marking
 * it HEAP_CLAIM_BUSY first; who has put a word in looks whether its claim is still there, and takes
 * the word back if not. That happens only to those who use a heap while others reset it.
 *
 * Memory. A quarter of the heap in small objects, and as much again where they are smaller than 32
 * bytes; the table that held all of them before took 32 bytes for each and was up to eight times
 * too large. What else was thought of: words of 16 bytes have room for a claim of their own and
 * need no regions, but are twice the memory. Numbers of instances in the words in place of claims
 * run out with the resets, or somebody must sweep. One claim for each region is less to look at,
 * but collectors mix objects of several types, which are instances, in one page.
 *
 * A child made by fork sees zeros, as in all the recorder's private memory. With a reserve of
 * memory there is no room for a shadow, and all is in tables.
 */
#include "account/heap_objects.h"

#include "account/heap_instance.h"
#include "platform/mem.h"

enum { TOP_ENTRIES = 1 << (ARCH_ADDRESS_BITS - HEAP_SPAN_BITS), NOBODY = HEAP_CLAIMS };

#define TURN_MASK ((UINT64_C(1) << HEAP_CLAIM_TURN_BITS) - 1)

void
heap_objects_empty(struct heap_objects *o)
{
    uint64_t claim = load_relaxed(&o->claim);

    while (!cas_acq_rel(&o->claim, &claim, (claim & ~TURN_MASK) | ((claim + 1) & TURN_MASK)))
        ;
    if (load_relaxed(&o->table.levels[0]) != NULL)
        heap_map_empty(&o->table);
    store_relaxed(&o->untold, 0u);
}

/* Does CLAIM stand for objects that are there? */
static bool
is_current(uint64_t claim)
{
    const struct heap_instance *h;

    if (claim <= TURN_MASK)
        return false;
    h = heap_instance_peek((uint32_t)(claim >> HEAP_CLAIM_TURN_BITS));
    return h != NULL && load_acquire(&h->objects.claim) == claim;
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* Memory of SIZE_BYTES at *PLACE, made if there is none yet; NULL without memory. */
static void *
made(void *place, size_t size_bytes)
{
    void **at = place;
    void *there = load_acquire(at), *own;

    if (there != NULL)
        return there;
    own = state->arena == NULL ? mem_private(size_bytes) : NULL;
    if (own == NULL || cas_acq_rel(at, &there, own))
        return own;
    mem_release(own, size_bytes);
    return there;
}

static COLD struct heap_leaf *
leaf_make(uintptr_t address)
{
    struct heap_leaf **top = made(&state->heap_shadow, TOP_ENTRIES * sizeof *top);

    if (top == NULL || address >> ARCH_ADDRESS_BITS)
        return NULL;
    return made(&top[address >> HEAP_SPAN_BITS], sizeof **top);
}

/* --- Words ------------------------------------------------------------------------------------ */

/* *PLACE, which was *THERE, becomes WORD; false, and *THERE is what it is, if it was changed. */
static inline bool
exchange(uint64_t *place, uint64_t *there, uint64_t word)
{
    return likely(!load_relaxed(&state->multi)) ? arch_cas_alone(place, there, word)
                                                : cas_acq_rel(place, there, word);
}

/* Take away all words of REGION, which begins at ADDRESS in LEAF, of the claims whose bits are set
 * in GONE. */
static void
wipe(struct heap_leaf *leaf, const struct heap_region *region, uintptr_t address, uint32_t gone)
{
    uintptr_t first = round_down(address, UINT64_C(1) << HEAP_REGION_BITS);

    for (uint32_t which = 0; which < 2; which++) {
        uint64_t *words = heap_word(leaf, which, first);

        if (which == 1 && load_acquire(&region->second) == 0)
            break;
        for (uint32_t i = 0; i < HEAP_REGION_WORDS; i++) {
            uint64_t there = load_relaxed(&words[i]);

            while (there != 0 && gone >> heap_word_claim(there) & 1)
                if (exchange(&words[i], &there, 0))
                    break;
        }
    }
}

/* Give one of the stale claims of the region at ADDRESS in LEAF to CLAIM. Returns its number;
 * NOBODY if none is stale. */
static COLD uint32_t
take_stale(struct heap_leaf *leaf, uintptr_t address, uint64_t claim)
{
    struct heap_region *region = heap_region(leaf, address);
    uint32_t gone = 0, first;

    for (uint32_t i = 0; i < HEAP_CLAIMS; i++) {
        uint64_t there = load_acquire(&region->claims[i]);

        if (there > TURN_MASK && !is_current(there) &&
            cas_acq_rel(&region->claims[i], &there, HEAP_CLAIM_BUSY))
            gone |= 1u << i;
    }
    if (gone == 0)
        return NOBODY;
    wipe(leaf, region, address, gone);
    if (gone == (1u << HEAP_CLAIMS) - 1)
        store_relaxed(&region->second, UINT64_C(0)); // Nobody has put in what would not be wiped.
    first = (uint32_t)__builtin_ctz(gone);
    for (uint32_t i = first; i < HEAP_CLAIMS; i++)
        if (gone >> i & 1)
            store_release(&region->claims[i], i == first ? claim : UINT64_C(0));
    return first;
}

/* The number that CLAIM has among the claims of the region at ADDRESS in LEAF, one that it gets if
 * it has none; NOBODY if all are others'. */
static uint32_t
claim_in(struct heap_leaf *leaf, uintptr_t address, uint64_t claim)
{
    struct heap_region *region = heap_region(leaf, address);

    for (uint32_t i = 0; i < HEAP_CLAIMS; i++)
        if (load_acquire(&region->claims[i]) == claim)
            return i;
    for (uint32_t i = 0; i < HEAP_CLAIMS; i++) {
        uint64_t there = 0;

        // Another thread may have come with the same one.
        if (cas_acq_rel(&region->claims[i], &there, claim) || there == claim)
            return i;
    }
    return take_stale(leaf, address, claim);
}

/* Put WORD into PLACE of REGION if that is free, or what is there has ended with its instance. */
static bool
put(uint64_t *place, const struct heap_region *region, uint64_t word, uint64_t claim)
{
    uint64_t there = load_relaxed(place);

    while (there == 0 || !is_current(load_acquire(&region->claims[heap_word_claim(there)]))) {
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

/* Keep B at ADDRESS in the shadow, in LEAF. */
static bool
shadow_insert(struct heap_leaf *leaf, uintptr_t address, struct heap_block b, uint64_t claim)
{
    struct heap_region *region = heap_region(leaf, address);
    uint32_t number = claim_in(leaf, address, claim);
    uint64_t word;

    if (number == NOBODY)
        return false;
    word = heap_word_of(address, b, number);
    if (put(heap_word(leaf, 0, address), region, word, claim))
        return true;
    // Before the word is there, so that whoever has the object sees it.
    if (load_relaxed(&region->second) == 0)
        store_relaxed(&region->second, UINT64_C(1));
    return put(heap_word(leaf, 1, address), region, word, claim);
}

/* --- Both ------------------------------------------------------------------------------------- */

/* Note that the table of O has objects that begin in REGION. */
static void
tell_tabled(struct heap_region *region, const struct heap_objects *o)
{
    uint64_t claim = load_acquire(&o->claim), there = load_relaxed(&region->tabled);

    while (there != claim && there != HEAP_CLAIM_SEVERAL &&
           !cas_acq_rel(&region->tabled, &there,
                        there == 0 || !is_current(there) ? claim : HEAP_CLAIM_SEVERAL))
        ;
}

/* Forget about the table of an instance that has been emptied since. */
static void
forget_tabled(struct heap_region *region)
{
    uint64_t there = load_relaxed(&region->tabled);

    if (unlikely(there > TURN_MASK) && !is_current(there))
        cas_acq_rel(&region->tabled, &there, UINT64_C(0));
}

/* May the table of CLAIM have objects that begin in REGION? */
static bool
is_tabled(const struct heap_region *region, uint64_t claim)
{
    uint64_t there = load_relaxed(&region->tabled);

    return there == claim || there == HEAP_CLAIM_SEVERAL;
}

bool
heap_objects_insert_slowly(struct heap_objects *o, const void *p, struct heap_block b,
                           struct heap_block *ret_old)
{
    uintptr_t address = (uintptr_t)p;
    uint64_t claim = load_acquire(&o->claim);
    struct heap_leaf *leaf;

    *ret_old = heap_objects_remove_slowly(o, p);
    leaf = heap_leaf(address);
    if (unlikely(leaf == NULL))
        leaf = leaf_make(address);
    else
        forget_tabled(heap_region(leaf, address));
    if (likely(leaf != NULL) && heap_word_holds(b) && shadow_insert(leaf, address, b, claim))
        return true;
    if (leaf != NULL)
        tell_tabled(heap_region(leaf, address), o);
    else
        store_relaxed(&o->untold, 1u);
    return heap_map_insert(&o->table, p, b);
}

struct heap_block
heap_objects_remove_slowly(struct heap_objects *o, const void *p)
{
    uintptr_t address = (uintptr_t)p;
    uint64_t claim = load_acquire(&o->claim);
    struct heap_leaf *leaf = heap_leaf(address);
    const struct heap_region *region = leaf != NULL ? heap_region(leaf, address) : NULL;

    for (uint32_t which = 0; leaf != NULL && which < 2; which++) {
        uint64_t *place, word;

        if (which == 1 && load_relaxed(&region->second) == 0)
            break;
        place = heap_word(leaf, which, address);
        word = load_relaxed(place);
        if (!heap_word_is(word, region, claim, address))
            continue;
        store_relaxed(place, UINT64_C(0));
        return heap_word_says(word);
    }
    if ((leaf != NULL && is_tabled(region, claim)) || load_relaxed(&o->untold))
        return heap_map_remove(&o->table, p);
    return (struct heap_block){0};
}

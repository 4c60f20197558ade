/* heap_table.c: implements the tables of one heap instance: the map (address -> block) and the live
 * values (site -> live values). The map contains only blocks that do not fit into the shadow of the
 * address space (heap_objects.c).
 *
 * Both are sequences of open-addressing hash tables, each several times the size of the previous
 * one. Entries are never moved. The arena of one request fits in the first levels, a few kilobytes.
 *
 * The map's levels consist of buckets of eight words, one cache line each. An entry is in one of
 * four buckets; it is in the second only if the first was full at its insertion, and so on. The
 * high bits of the address select the first bucket, so that consecutive blocks are in lines that
 * were just read. A new entry goes into the last level in use. If all its buckets in this level are
 * full, a level is added. So nearly all entries are in the last level, where a search begins.
 * Earlier levels contain the entries from before the heap grew, whose number falls.
 *
 * An entry's word is complete, so one CAS claims a slot:
 *
 *     63                      16 15         0
 *     |      address + 1        | clearing  |     address + 1: 0 = gone, 1 = being filled in
 *
 * "clearing" counts the resets of the map. A slot whose word has another clearing is free. Like a
 * slot that was never used, it ends the search of a bucket, and proves that the insertions since
 * the reset did not need the later buckets. So a reset only increments the counter, and the map
 * starts again at its first level. When the 16 bits wrap around, all words are cleared, once in
 * 65535 resets.
 *
 * A slot is filled in before its word shows the address. A block has one owner from before its
 * insertion until after its removal, so two threads never insert one address concurrently. If the
 * program reports two allocations of one address, one entry hides the other. */
#include "heaps/heap_table.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "heaps/heaps_state.h"
#include "platform/mem.h"
#include "platform/state.h"

enum {
    MAP_FIRST = 64,
    BUCKET = 8,
    NEIGHBOURHOOD_BYTES = 128,
    LIVE_FIRST = 16,
    LIVE_WINDOW = 8, // Number of slots per window. With 16, tables would fill up to nine tenths,
                     // but a search would take twice as long.
    MAP_ATTEMPTS = 4, // Number of buckets that an entry may be in.
    MAP_SHIFT = 1,
    LIVE_SHIFT = 2,
    CLEARING_BITS = 16,
    CLEARINGS = (1 << CLEARING_BITS) - 1,
    TOP_BITS = 5, // Number of bits for the level in heap_map.top.
    LINE_BYTES = 64,
    SLAB_BYTES = 1 << 20,
};
static_assert(HEAP_MAP_LEVELS <= 1 << TOP_BITS && TOP_BITS + CLEARING_BITS <= 32, "top holds both");

#define CLEARING_MASK ((UINT64_C(1) << CLEARING_BITS) - 1)
#define WORD_GONE UINT64_C(0)
#define WORD_CLAIMED (UINT64_C(1) << CLEARING_BITS)
#define ADDRESS_MAX ((UINT64_C(1) << 47) - 1)
static_assert(ADDRESS_MAX + 1 < UINT64_C(1) << (64 - CLEARING_BITS), "a word holds address + 1");

/* The blocks are stored after the words, so that a search reads little memory. */
struct heap_map_level {
    uint64_t mask; // Number of places minus one.
    uint64_t reserved[LINE_BYTES / sizeof(uint64_t) - 1];
    uint64_t words[]; // Atomic.
};

static_assert(sizeof(struct heap_map_level) == LINE_BYTES &&
                  sizeof(struct heap_live_level) == LINE_BYTES &&
                  BUCKET * sizeof(uint64_t) == LINE_BYTES,
              "places begin there, and a bucket is a line");

/* A piece of memory that is divided into small tables. */
struct heap_slab {
    uint64_t used; // Atomic: number of used bytes; may exceed the capacity.
    uint64_t reserved[LINE_BYTES / sizeof(uint64_t) - 1];
    unsigned char memory[];
};

void *
heap_memory(size_t size_bytes)
{
    size_t whole = round_up(size_bytes, LINE_BYTES);

    if (!mem_charge(whole))
        return NULL;
    if (whole > SLAB_BYTES / 4)
        return mem_private(whole);
    for (;;) {
        struct heap_slab *slab = load_acquire(&heaps_state()->heap_slab), *made;
        uint64_t off = slab != NULL ? add_relaxed(&slab->used, whole) : SLAB_BYTES;

        if (off + whole <= SLAB_BYTES - sizeof *slab)
            return slab->memory + off;
        made = mem_private(SLAB_BYTES);
        if (made == NULL)
            return NULL;
        if (!cas_acq_rel(&heaps_state()->heap_slab, &slab, made))
            mem_release(made, SLAB_BYTES);
    }
}

void *
heap_memory_once(void *place, size_t size_bytes, size_t charged_bytes)
{
    void **at = place;
    void *current = load_acquire(at), *own;

    if (current != NULL)
        return current;
    if (state->arena != NULL || !mem_charge(charged_bytes))
        return NULL;
    own = mem_private(size_bytes);
    if (own != NULL && cas_acq_rel(at, &current, own))
        return own;
    mem_uncharge(charged_bytes);
    if (own != NULL)
        mem_release(own, size_bytes);
    return current;
}

/* Return the level at PLACE, created on first use with COUNT slots of PLACE_BYTES each. Return NULL
 * if memory is exhausted. */
static void *
level_make(void **place, size_t count, size_t place_bytes)
{
    uint64_t *current = load_acquire(place);
    void *none = NULL;

    if (likely(current != NULL))
        return current;
    current = heap_memory(LINE_BYTES + count * place_bytes);
    if (current == NULL)
        return NULL;
    *current = count - 1; // The mask is the first member of levels of both kinds.
    return cas_acq_rel(place, &none, (void *)current) ? current : none;
}

static struct heap_block *
map_blocks(struct heap_map_level *level)
{
    return (struct heap_block *)(void *)(level->words + level->mask + 1);
}

enum { NOWHERE = UINT32_MAX };

/* Return the first slot of the bucket for WORD and ATTEMPT. The first attempt hashes the high bits
 * of the address, because neighbours are often allocated and freed together. The other attempts
 * hash the whole address. */
static uint32_t
heap_table_bucket_of(const struct heap_map_level *level, uint64_t word, uint32_t attempt)
{
    uint64_t address = word >> CLEARING_BITS;
    uint64_t hash = hash_u64(attempt == 0 ? address / NEIGHBOURHOOD_BYTES
                                          : ~address - ((uint64_t)attempt << 56));

    return (uint32_t)(hash & level->mask) / BUCKET * BUCKET;
}

/* Return the slot of the block with WORD, or NOWHERE if it is not in this level. */
static uint32_t
map_find(const struct heap_map_level *level, uint64_t word)
{
    for (uint32_t attempt = 0; attempt < MAP_ATTEMPTS; attempt++) {
        uint32_t first = heap_table_bucket_of(level, word, attempt);

        for (uint32_t place = first; place < first + BUCKET; place++) {
            uint64_t current = load_acquire(&level->words[place]);

            if (current == word)
                return place;
            if ((current ^ word) & CLEARING_MASK)
                return NOWHERE;
        }
    }
    return NOWHERE;
}

/* Claim a slot for WORD. Return NOWHERE if its buckets are full. */
static uint32_t
map_claim(struct heap_map_level *level, uint64_t word)
{
    uint64_t clearing = word & CLEARING_MASK;

    for (uint32_t attempt = 0; attempt < MAP_ATTEMPTS; attempt++) {
        uint32_t first = heap_table_bucket_of(level, word, attempt);

        for (uint32_t place = first; place < first + BUCKET; place++) {
            uint64_t current = load_relaxed(&level->words[place]);

            if ((current & CLEARING_MASK) == clearing && current != (WORD_GONE | clearing))
                continue;
            if (cas_acq_rel(&level->words[place], &current, WORD_CLAIMED | clearing))
                return place;
        }
    }
    return NOWHERE;
}

/* Store B in its slot. If a reset is concurrent with events, one thread may write a slot while
 * another thread still reads it. The reader detects this by its CAS of the word. */
static void
heap_table_put_block(struct heap_block *current, struct heap_block b)
{
    store_relaxed(&current->site, b.site);
    store_relaxed(&current->birth, b.birth);
    store_relaxed(&current->count, b.count);
    store_relaxed(&current->size_bytes, b.size_bytes);
}

static struct heap_block
get_block(const struct heap_block *current)
{
    return (struct heap_block){load_relaxed(&current->site), load_relaxed(&current->birth),
                               load_relaxed(&current->count), load_relaxed(&current->size_bytes)};
}

static uint64_t
map_word(const struct heap_map *m, const void *address)
{
    return ((uint64_t)(uintptr_t)address + 1) << CLEARING_BITS |
           (load_acquire(&m->cleared) % CLEARINGS + 1);
}

/* Return the last level of M with entries of CLEARING, or 0 if there are none. */
static uint32_t
map_top(const struct heap_map *m, uint64_t clearing)
{
    uint32_t top = load_acquire(&m->top);

    return top >> TOP_BITS == clearing ? top & ((1 << TOP_BITS) - 1) : 0;
}

/* Raise the top of M to level I, which is about to get an entry of CLEARING. Call before publishing
 * the entry. */
static void
raise_top(struct heap_map *m, uint64_t clearing, uint32_t i)
{
    uint32_t top = load_acquire(&m->top);

    // Replace a top that belongs to an earlier clearing, or is lower. If a reset has overtaken the
    // insertion, its entry is invalid. If a thread raises the top after this check, the CAS fails.
    while ((top >> TOP_BITS != clearing || (top & ((1 << TOP_BITS) - 1)) < i) &&
           load_acquire(&m->cleared) % CLEARINGS + 1 == clearing &&
           !cas_acq_rel(&m->top, &top, (uint32_t)clearing << TOP_BITS | i))
        ;
}

bool
heap_map_insert(struct heap_map *m, const void *address, struct heap_block block)
{
    uint64_t word = map_word(m, address), clearing = word & CLEARING_MASK;

    if ((uintptr_t)address > ADDRESS_MAX)
        return false;
    for (uint32_t i = map_top(m, clearing); i < HEAP_MAP_LEVELS; i++) {
        struct heap_map_level *level =
            level_make(&m->levels[i], (size_t)MAP_FIRST << (MAP_SHIFT * i),
                       sizeof level->words[0] + sizeof(struct heap_block));
        uint32_t place;

        if (level == NULL)
            return false;
        place = map_claim(level, word);
        if (place == NOWHERE)
            continue;
        if (i > 0)
            raise_top(m, clearing, i);
        heap_table_put_block(&map_blocks(level)[place], block);
        store_release(&level->words[place], word);
        return true;
    }
    return false;
}

struct heap_block
heap_map_remove(struct heap_map *m, const void *address)
{
    uint64_t word = map_word(m, address), clearing = word & CLEARING_MASK;

    if (unlikely((uintptr_t)address > ADDRESS_MAX))
        return (struct heap_block){0};
    for (uint32_t i = map_top(m, clearing) + 1; i-- > 0;) {
        struct heap_map_level *level = load_acquire(&m->levels[i]);
        struct heap_block b;
        uint32_t place = level != NULL ? map_find(level, word) : (uint32_t)NOWHERE;

        if (place == NOWHERE)
            continue;
        b = get_block(&map_blocks(level)[place]);
        if (cas_acq_rel(&level->words[place], &word, WORD_GONE | clearing))
            return b;
        break;
    }
    return (struct heap_block){0};
}

static COLD void
map_clear(struct heap_map *m)
{
    for (uint32_t i = 0; i < HEAP_MAP_LEVELS; i++) {
        struct heap_map_level *level = load_acquire(&m->levels[i]);

        if (level == NULL)
            break;
        for (uint64_t k = 0; k <= level->mask; k++)
            store_relaxed(&level->words[k], UINT64_C(0));
    }
    store_release(&m->top, 0u);
}

void
heap_map_empty(struct heap_map *m)
{
    if (unlikely((add_relaxed(&m->cleared, 1u) + 1) % CLEARINGS == 0))
        map_clear(m);
}

/* Return level I of L, created on first use. Close to the memory limit the level may be smaller
 * than usual: the tree is nearly full then, so few sites follow. Return NULL if memory is
 * exhausted. */
static struct heap_live_level *
live_level(struct heap_lives *l, uint32_t i)
{
    uint32_t shift = LIVE_SHIFT * i;

    for (;; shift -= LIVE_SHIFT) {
        struct heap_live_level *level =
            level_make(&l->levels[i], (size_t)LIVE_FIRST << shift, sizeof level->places[0]);

        if (level != NULL || shift == 0)
            return level;
    }
}

/* Add SITE in the first free slot of its windows. Search from the first level on, so that two
 * threads do not add SITE twice. A lookup starts at the last level instead, where most entries
 * are. */
static struct heap_live *
live_make(struct heap_lives *l, uint32_t site)
{
    uint64_t hash = heap_live_hash(site);

    for (uint32_t i = 0; i < HEAP_LIVE_LEVELS; i++) {
        struct heap_live_level *level = live_level(l, i);

        if (level == NULL)
            return NULL;
        if (unlikely(load_relaxed(&l->used) <= i)) {
            store_release(&l->used, i + 1);
            store_release(&l->last, level);
        }
        for (uint32_t k = 0; k < LIVE_WINDOW; k++) {
            struct heap_live *p = &level->places[(hash + k) & level->mask];
            uint32_t current = load_acquire(&p->site);

            if (current == 0 && cas_acq_rel(&p->site, &current, site))
                return p;
            if (current == site)
                return p;
        }
    }
    return NULL;
}

struct heap_live *
heap_live_find(struct heap_lives *l, uint32_t site)
{
    uint64_t hash = heap_live_hash(site);

    for (uint32_t i = load_acquire(&l->used); i-- > 0;) {
        struct heap_live_level *level = load_acquire(&l->levels[i]);
        uint32_t current = 1;

        for (uint32_t k = 0; level != NULL && k < LIVE_WINDOW && current != 0; k++) {
            struct heap_live *p = &level->places[(hash + k) & level->mask];

            current = load_acquire(&p->site);
            if (current == site)
                return p;
        }
    }
    return live_make(l, site);
}

struct heap_live *
heap_live_next(struct heap_lives *l, uint64_t *i)
{
    uint64_t before = 0;

    for (uint32_t k = 0; k < load_acquire(&l->used); k++) {
        struct heap_live_level *level = load_acquire(&l->levels[k]);

        if (level == NULL)
            break;
        for (; *i - before <= level->mask; (*i)++) {
            struct heap_live *p = &level->places[*i - before];

            if (load_acquire(&p->site) != 0) {
                (*i)++;
                return p;
            }
        }
        before += level->mask + 1;
    }
    return NULL;
}

/* Return the sum of OWN and OTHERS, and subtract it from OTHERS, so that the sum becomes zero. The
 * owner may continue to add to OWN, because OWN is not written. */
static int64_t
heap_table_take(const int64_t *own, int64_t *others)
{
    int64_t current = load_relaxed(others), mine;

    do
        mine = load_relaxed(own);
    while (!cas_seq_cst(others, &current, -mine));
    return mine + current;
}

void
heap_live_take(struct heap_live *l, int64_t *ret_count, int64_t *ret_bytes)
{
    *ret_count = heap_table_take(&l->own_count, &l->count);
    *ret_bytes = heap_table_take(&l->own_bytes, &l->size_bytes);
}

void
heap_live_clear(struct heap_lives *l)
{
    uint64_t i = 0;
    struct heap_live *p;

    while ((p = heap_live_next(l, &i)) != NULL) {
        store_relaxed(&p->site, 0u);
        p->own_count = p->own_bytes = p->count = p->size_bytes = 0;
    }
    store_relaxed(&l->used, 0u);
    store_relaxed(&l->last, NULL);
}

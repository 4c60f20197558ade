/* heap_table.c: address -> block and site -> live values of one instance of a heap.
 *
 * Both are sequences of open hash tables, each several times the one before; an entry may lie in
 * any level, within one window from its hash, and is looked for in later levels only if the windows
 * of the earlier ones were full. Nothing is ever moved. A request's arena fits in the first levels,
 * a few kilobytes.
 *
 * The map's entries have one word that says all, so that one CAS claims a place:
 *
 *     63                      17 16         0
 *     |      address + 1        | emptying  |     address + 1: 0 = gone, 1 = being filled in
 *
 * A word of another emptying is a free place, and ends a search as a place never used does, since
 * nothing of this one can lie behind it: so to empty the map is to count up. Each level notes in
 * which emptying it was last filled, so that those left from busier times are not even looked at.
 * When the 17 bits have gone round, all words are cleared, once in 131071 times.
 *
 * A place is filled in before its word shows the address. A block has one owner from before its
 * insertion until after its removal, so two threads never insert one address at once; should a
 * program do so, one entry hides the other.
 */
#include "account/heap_table.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "platform/mem.h"
#include "platform/state.h"

enum {
    MAP_FIRST = 64,
    MAP_WINDOW = 16,
    LIVE_FIRST = 16,
    LIVE_WINDOW = 16,
    MAP_SHIFT = 3,
    LIVE_SHIFT = 2,
    EMPTYING_BITS = 17,
    EMPTYINGS = (1 << EMPTYING_BITS) - 1,
    LEVEL_HEAD_BYTES = 16,
    SLAB_BYTES = 1 << 20,
};

#define EMPTYING_MASK ((UINT64_C(1) << EMPTYING_BITS) - 1)
#define WORD_GONE UINT64_C(0)
#define WORD_CLAIMED (UINT64_C(1) << EMPTYING_BITS)
#define ADDRESS_MAX ((UINT64_C(1) << (64 - EMPTYING_BITS)) - 3)

/* The blocks stand behind the words, so that a search reads little. */
struct heap_map_level {
    uint64_t mask;    // Places minus one.
    uint64_t filled;  // Atomic: the emptying in which something was last put in.
    uint64_t words[]; // Atomic.
};

struct heap_live_level {
    uint64_t mask;
    uint64_t reserved;
    struct heap_live places[];
};

static_assert(sizeof(struct heap_map_level) == LEVEL_HEAD_BYTES &&
                  sizeof(struct heap_live_level) == LEVEL_HEAD_BYTES,
              "places begin there");

/* A piece of memory that small tables are cut from. */
struct heap_slab {
    uint64_t used; // Atomic; may run past the end.
    unsigned char memory[];
};

void *
heap_memory(size_t size_bytes)
{
    size_t whole = round_up(size_bytes, 64);

    if (whole > SLAB_BYTES / 4)
        return mem_private(whole);
    for (;;) {
        struct heap_slab *slab = load_acquire(&state->heap_slab), *made;
        uint64_t off = slab != NULL ? add_relaxed(&slab->used, whole) : SLAB_BYTES;

        if (off + whole <= SLAB_BYTES - sizeof *slab)
            return slab->memory + off;
        made = mem_private(SLAB_BYTES);
        if (made == NULL)
            return NULL;
        if (!cas_acq_rel(&state->heap_slab, &slab, made))
            mem_release(made, SLAB_BYTES);
    }
}

/* The level at PLACE, made with COUNT places of PLACE_BYTES if it is not there. */
static void *
level_make(void **place, size_t count, size_t place_bytes)
{
    uint64_t *there = load_acquire(place);
    void *none = NULL;

    if (likely(there != NULL))
        return there;
    there = heap_memory(LEVEL_HEAD_BYTES + count * place_bytes);
    if (there == NULL)
        return NULL;
    *there = count - 1; // Both kinds begin with their mask.
    return cas_acq_rel(place, &none, (void *)there) ? there : none;
}

static struct heap_block *
map_blocks(struct heap_map_level *level)
{
    return (struct heap_block *)(void *)(level->words + level->mask + 1);
}

enum { NOWHERE = UINT32_MAX };

/* Where the block with WORD is; NOWHERE if it is not in this level. */
static uint32_t
map_find(const struct heap_map_level *level, uint64_t word)
{
    uint64_t hash = hash_u64(word >> EMPTYING_BITS);

    for (uint32_t i = 0; i < MAP_WINDOW; i++) {
        uint32_t place = (uint32_t)((hash + i) & level->mask);
        uint64_t there = load_acquire(&level->words[place]);

        if (there == word)
            return place;
        if ((there ^ word) & EMPTYING_MASK)
            break;
    }
    return NOWHERE;
}

/* Claim a place for WORD; NOWHERE if its window is full. */
static uint32_t
map_claim(struct heap_map_level *level, uint64_t word)
{
    uint64_t hash = hash_u64(word >> EMPTYING_BITS);
    uint64_t emptying = word & EMPTYING_MASK;

    for (uint32_t i = 0; i < MAP_WINDOW; i++) {
        uint32_t place = (uint32_t)((hash + i) & level->mask);
        uint64_t there = load_relaxed(&level->words[place]);

        if ((there & EMPTYING_MASK) == emptying && there != (WORD_GONE | emptying))
            continue;
        if (cas_acq_rel(&level->words[place], &there, WORD_CLAIMED | emptying))
            return place;
    }
    return NOWHERE;
}

/* A reset while blocks come and go may hand a place to a thread that writes while another still
 * reads; the word tells that one that it was too late. */
static void
put_block(struct heap_block *there, struct heap_block b)
{
    store_relaxed(&there->site, b.site);
    store_relaxed(&there->birth, b.birth);
    store_relaxed(&there->count, b.count);
    store_relaxed(&there->size_bytes, b.size_bytes);
}

static struct heap_block
get_block(const struct heap_block *there)
{
    return (struct heap_block){load_relaxed(&there->site), load_relaxed(&there->birth),
                               load_relaxed(&there->count), load_relaxed(&there->size_bytes)};
}

static uint64_t
map_word(const struct heap_map *m, const void *address)
{
    return ((uint64_t)(uintptr_t)address + 1) << EMPTYING_BITS |
           (load_acquire(&m->emptied) % EMPTYINGS + 1);
}

bool
heap_map_insert(struct heap_map *m, const void *address, struct heap_block block)
{
    uint64_t word = map_word(m, address);

    if ((uintptr_t)address > ADDRESS_MAX)
        return false;
    for (uint32_t i = 0; i < HEAP_MAP_LEVELS; i++) {
        struct heap_map_level *level =
            level_make(&m->levels[i], (size_t)MAP_FIRST << (MAP_SHIFT * i),
                       sizeof level->words[0] + sizeof(struct heap_block));
        uint32_t place;

        if (level == NULL)
            return false;
        if (load_relaxed(&level->filled) != (word & EMPTYING_MASK))
            store_release(&level->filled, word & EMPTYING_MASK);
        place = map_claim(level, word);
        if (place != NOWHERE) {
            put_block(&map_blocks(level)[place], block);
            store_release(&level->words[place], word);
            return true;
        }
    }
    return false;
}

struct heap_block
heap_map_remove(struct heap_map *m, const void *address)
{
    uint64_t word = map_word(m, address);
    uint64_t gone = WORD_GONE | (word & EMPTYING_MASK);

    for (uint32_t i = 0; i < HEAP_MAP_LEVELS && (uintptr_t)address <= ADDRESS_MAX; i++) {
        struct heap_map_level *level = load_acquire(&m->levels[i]);
        struct heap_block b;
        uint32_t place;

        if (level == NULL || load_acquire(&level->filled) != (word & EMPTYING_MASK))
            break;
        place = map_find(level, word);
        if (place == NOWHERE)
            continue;
        b = get_block(&map_blocks(level)[place]);
        if (cas_acq_rel(&level->words[place], &word, gone))
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
        store_relaxed(&level->filled, UINT64_C(0));
        for (uint64_t k = 0; k <= level->mask; k++)
            store_relaxed(&level->words[k], UINT64_C(0));
    }
}

void
heap_map_empty(struct heap_map *m)
{
    if (unlikely((add_relaxed(&m->emptied, 1u) + 1) % EMPTYINGS == 0))
        map_clear(m);
}

struct heap_live *
heap_live_at(struct heap_lives *l, uint32_t site)
{
    uint64_t hash = hash_u64(site);

    for (uint32_t i = 0; i < HEAP_LIVE_LEVELS; i++) {
        struct heap_live_level *level = level_make(
            &l->levels[i], (size_t)LIVE_FIRST << (LIVE_SHIFT * i), sizeof level->places[0]);

        if (level == NULL)
            return NULL;
        if (unlikely(load_relaxed(&l->used) <= i))
            store_release(&l->used, i + 1);
        for (uint32_t k = 0; k < LIVE_WINDOW; k++) {
            struct heap_live *p = &level->places[(hash + k) & level->mask];
            uint32_t there = load_acquire(&p->site);

            if (there == 0 && cas_acq_rel(&p->site, &there, site))
                return p;
            if (there == site)
                return p;
        }
    }
    return NULL;
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

void
heap_live_clear(struct heap_lives *l)
{
    uint64_t i = 0;
    struct heap_live *p;

    while ((p = heap_live_next(l, &i)) != NULL) {
        store_relaxed(&p->site, 0u);
        p->count = p->size_bytes = 0;
    }
    store_relaxed(&l->used, 0u);
}

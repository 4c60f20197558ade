/* heap_regions.c: allocates and finds the regions and lines of heap_sparse.c.
 *
 * Regions and lines have 64 bytes and are numbered. Both come from pools, which are filled page by
 * page, so that a region far from all others costs 64 bytes instead of a page. A directory for each
 * level maps an address to its region:
 *
 *     directory   tables of 512, 2048, … entries; entry: address / length (39) | number (25)
 *
 * An entry occupies the first free place in three buckets of eight entries, else in the next table.
 * The high bits of the region's number select the first bucket, so adjacent regions share a cache
 * line. Entries are never removed, so a search ends at the first free place. A table is created
 * when the earlier tables have no free place for an entry. They are then at most three quarters
 * full, so the directory needs up to 26 bytes per region (SPARSE_REGION_BYTES), and fewer on
 * average.
 *
 * A filter of 512 bits per level shows that most missing regions do not exist. The hash of a
 * region's number selects the bit, which is clear if no such region exists. So a lookup in a level
 * with few regions is cheap.
 *
 * If two threads create the same region, both try to fill the same place of the directory, because
 * they search in the same order. The memory of the slower thread's region is lost.
 *
 * Pages are charged (mem_charge) before they are touched. Nothing is ever released.
 */
#include "heaps/heap_regions.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "heaps/heap_table.h"
#include "heaps/heaps_state.h"
#include "platform/arch_x86_64.h"
#include "platform/mem.h"
#include "platform/state.h"

enum {
    PIECE_BYTES = 64, // Size in bytes of a piece: a line or a region.
    PIECE_PAGE_BYTES = 4096,
    POOL_SEGMENTS = 512,
    LINE_SEGMENT_BITS = 20, // Log2 of the number of lines in a segment.
    REGION_SEGMENT_BITS = 16,
    NUMBER_BITS = 25, // Number of bits for a region's number in the directory.
    DIRECTORY_TABLES = 9,
    FIRST_ENTRIES = 512,
    TABLE_SHIFT = 2,
    BUCKET_ENTRIES = 8,
    BUCKETS = 3,
    NEIGHBOUR_BITS = 2,
    PRESENT_WORDS = 8,
};

static_assert(ARCH_ADDRESS_BITS - SPARSE_FINEST_BITS + NUMBER_BITS <= 64 &&
                  POOL_SEGMENTS << REGION_SEGMENT_BITS == 1 << NUMBER_BITS,
              "an entry of the directory holds both");

struct pool {
    uint64_t used;                // Atomic: number of pieces in use. No piece has number 0.
    void *segments[POOL_SEGMENTS]; // Atomic.
};

struct heap_sparse {
    struct pool lines, regions;
    uint64_t *tables[SPARSE_LEVELS][DIRECTORY_TABLES]; // Atomic.
    uint64_t present[SPARSE_LEVELS][PRESENT_WORDS];    // Atomic: filter bits, set if a region with
                                                       // that hash may exist.
    struct heap_quota quotas[SPARSE_LEVELS];
    uint64_t evicted_bytes; // Atomic; heap_quota.h.
};

static struct heap_sparse *
sparse_make(void)
{
    return heap_memory_once(&heaps_state()->heap_sparse, sizeof(struct heap_sparse),
                            round_up(sizeof(struct heap_sparse), PIECE_PAGE_BYTES));
}

/* --- Pools ------------------------------------------------------------------------------------ */

static void *
piece_at(struct pool *p, uint32_t segment_bits, uint32_t number)
{
    unsigned char *segment = load_acquire(&p->segments[number >> segment_bits]);

    return segment + (size_t)(number & ((1u << segment_bits) - 1)) * PIECE_BYTES;
}

/* Return the number of an unused piece of P, or 0 if memory is exhausted. */
static uint32_t
piece_take(struct pool *p, uint32_t segment_bits)
{
    uint64_t used = load_relaxed(&p->used);

    for (;;) {
        uint64_t number = used == 0 ? 1 : used;
        size_t segment = number >> segment_bits;
        bool charged = number % (PIECE_PAGE_BYTES / PIECE_BYTES) == 0 || used == 0;

        if (segment >= POOL_SEGMENTS ||
            heap_memory_once(&p->segments[segment], (size_t)PIECE_BYTES << segment_bits, 0) ==
                NULL ||
            (charged && !mem_charge(PIECE_PAGE_BYTES)))
            return 0;
        if (cas_acq_rel(&p->used, &used, number + 1))
            return (uint32_t)number;
        if (charged)
            mem_uncharge(PIECE_PAGE_BYTES);
    }
}

struct sparse_line *
sparse_line_at(uint32_t number)
{
    return piece_at(&load_acquire(&heaps_state()->heap_sparse)->lines, LINE_SEGMENT_BITS, number);
}

struct sparse_line *
sparse_line_append(uint32_t *link)
{
    uint32_t number = load_acquire(link), made;

    if (number != 0)
        return sparse_line_at(number);
    made = piece_take(&load_acquire(&heaps_state()->heap_sparse)->lines, LINE_SEGMENT_BITS);
    if (made == 0)
        return NULL;
    return sparse_line_at(cas_acq_rel(link, &number, made) ? made : number);
}

/* --- The directory ---------------------------------------------------------------------------- */

static size_t
table_entries(uint32_t table)
{
    return (size_t)FIRST_ENTRIES << (TABLE_SHIFT * table);
}

/* Return the first place of bucket number BUCKET for KEY in ENTRIES, the entries of table number
 * TABLE. */
static uint64_t *
directory_bucket(uint64_t *entries, uint32_t table, uint64_t key, uint32_t bucket)
{
    uint64_t hash = hash_u64(bucket == 0 ? key >> NEIGHBOUR_BITS : ~key - ((uint64_t)bucket << 56));

    return &entries[(hash & (table_entries(table) - 1)) / BUCKET_ENTRIES * BUCKET_ENTRIES];
}

/* Return the place of KEY in ENTRIES, the entries of table number TABLE, or a free place for KEY.
 * Return NULL if there is neither. */
static uint64_t *
find_place(uint64_t *entries, uint32_t table, uint64_t key)
{
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        uint64_t *place = directory_bucket(entries, table, key, bucket);

        for (uint32_t i = 0; i < BUCKET_ENTRIES; i++) {
            uint64_t current = load_acquire(&place[i]);

            if (current == 0 || current >> NUMBER_BITS == key)
                return &place[i];
        }
    }
    return NULL;
}

static struct sparse_region *
region_of(struct heap_sparse *sparse, uint64_t entry)
{
    return piece_at(&sparse->regions, REGION_SEGMENT_BITS,
                    (uint32_t)(entry & ((UINT64_C(1) << NUMBER_BITS) - 1)));
}

/* Return the word of SPARSE with the bit that is set if LEVEL may have a region with KEY. Store the
 * bit in *RET_BIT. */
static inline uint64_t *
present_word(struct heap_sparse *sparse, uint32_t level, uint64_t key, uint64_t *ret_bit)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    *ret_bit = UINT64_C(1) << hash % 64;
    return &sparse->present[level][hash / 64 % PRESENT_WORDS];
}

uint32_t
sparse_levels_present(uint32_t levels, uintptr_t address)
{
    struct heap_sparse *sparse = load_acquire(&heaps_state()->heap_sparse);
    uint32_t current = 0;

    if (sparse == NULL)
        return 0;
    // Unrolled, because shifts by constants need half the instructions.
#pragma GCC unroll 11
    for (uint32_t level = 0; level < SPARSE_LEVELS; level++) {
        uint64_t bit;

        if ((levels >> level & 1) != 0 &&
            (load_acquire(present_word(sparse, level, address >> sparse_region_bits(level),
                                       &bit)) & bit) != 0)
            current |= 1u << level;
    }
    return current;
}

struct sparse_region *
sparse_region_find(uint32_t level, uintptr_t address)
{
    struct heap_sparse *sparse = load_acquire(&heaps_state()->heap_sparse);
    uint64_t key = address >> sparse_region_bits(level);

    if (sparse == NULL || address >> ARCH_ADDRESS_BITS)
        return NULL;
    for (uint32_t table = 0; table < DIRECTORY_TABLES; table++) {
        uint64_t *entries = load_acquire(&sparse->tables[level][table]), *place;

        if (entries == NULL)
            return NULL;
        place = find_place(entries, table, key);
        if (place != NULL) {
            uint64_t entry = load_acquire(place);

            return entry >> NUMBER_BITS == key && entry != 0 ? region_of(sparse, entry) : NULL;
        }
    }
    return NULL;
}

/* Find the region with KEY in table TABLE of LEVEL, or create it. Return its entry, or 0 if the
 * table has no place. *MADE caches the number of an unused region: 0 = none yet, all ones = memory
 * is exhausted. */
static uint64_t
make_in(struct heap_sparse *sparse, uint32_t level, uint32_t table, uint64_t key, uint32_t *made)
{
    size_t bytes = table_entries(table) * sizeof(uint64_t);
    uint64_t *entries = heap_memory_once(&sparse->tables[level][table], bytes, bytes), *place;

    if (entries == NULL) {
        *made = UINT32_MAX;
        return 0;
    }
    while ((place = find_place(entries, table, key)) != NULL) {
        uint64_t current = load_acquire(place);

        if (current != 0 && current >> NUMBER_BITS == key)
            return current;
        if (current != 0)
            continue; // Another thread has taken the place.
        if (*made == 0 && (*made = piece_take(&sparse->regions, REGION_SEGMENT_BITS)) == 0) {
            *made = UINT32_MAX;
            return 0;
        }
        if (cas_acq_rel(place, &current, key << NUMBER_BITS | *made))
            return key << NUMBER_BITS | *made;
    }
    return 0;
}

struct sparse_region *
sparse_region_make(uint32_t level, uintptr_t address)
{
    struct heap_sparse *sparse;
    uint64_t *present, bit;
    uint32_t made = 0;

    if (address >> ARCH_ADDRESS_BITS || (sparse = sparse_make()) == NULL)
        return NULL;
    // Set the filter bit before an object is in the region.
    present = present_word(sparse, level, address >> sparse_region_bits(level), &bit);
    if ((load_relaxed(present) & bit) == 0)
        or_seq_cst(present, bit);
    for (uint32_t table = 0; table < DIRECTORY_TABLES && made != UINT32_MAX; table++) {
        uint64_t entry =
            make_in(sparse, level, table, address >> sparse_region_bits(level), &made);

        if (entry != 0)
            return region_of(sparse, entry);
    }
    return NULL;
}

struct heap_quota *
sparse_quota(uint32_t level, uint64_t **ret_evicted_bytes)
{
    struct heap_sparse *sparse = sparse_make();

    if (sparse == NULL)
        return NULL;
    *ret_evicted_bytes = &sparse->evicted_bytes;
    return &sparse->quotas[level];
}

/* heap_regions.h: allocates and finds the regions and lines of heap_sparse.c; see heap_regions.c.
 *
 * All functions are thread-safe and async-signal-safe. */
#ifndef HEAPS_HEAP_REGIONS_H
#define HEAPS_HEAP_REGIONS_H

#include "base/base.h"
#include "heaps/heap_claims.h"
#include "heaps/heap_quota.h"

enum {
    SPARSE_LEVELS = 11,
    SPARSE_FINEST_BITS = 8, // Log2 of the shortest region, 256 bytes; each level's regions are four
                            // times as long as the previous level's.
    SPARSE_LEVEL_BITS = 2,
    SPARSE_CHAINS = 4, // Number of chains in a region.
    SPARSE_LINE_ENTRIES = 5,
    // Bytes charged for a region: the region and its entry in the directory.
    SPARSE_REGION_BYTES = 64 + 26,
    SPARSE_LINE_BYTES = 64,
};

struct sparse_region {
    uint64_t claims[HEAP_CLAIMS];  // Atomic; heap_claims.h.
    uint32_t heads[SPARSE_CHAINS]; // Atomic: number of the first line of each chain; 0 = none.
};

struct sparse_line {
    uint32_t keys[SPARSE_LINE_ENTRIES]; // Atomic.
    uint32_t next;                      // Atomic: number of the next line; 0 = none.
    uint64_t words[SPARSE_LINE_ENTRIES];
};

static_assert(sizeof(struct sparse_region) == 64 &&
                  sizeof(struct sparse_line) == SPARSE_LINE_BYTES,
              "a line of the cache");

/* Return the number of address bits within a region of LEVEL. */
static inline uint32_t
sparse_region_bits(uint32_t level)
{
    return SPARSE_FINEST_BITS + SPARSE_LEVEL_BITS * level;
}

/* Return the subset of LEVELS that may have a region at ADDRESS, as a bit for each level. The other
 * levels have no region at ADDRESS. */
uint32_t sparse_levels_present(uint32_t levels, uintptr_t address);

/* Return the region of LEVEL at ADDRESS, or NULL if there is none. */
struct sparse_region *sparse_region_find(uint32_t level, uintptr_t address);

/* Return the region of LEVEL at ADDRESS, created on first use. Return NULL if memory is
 * exhausted. */
struct sparse_region *sparse_region_make(uint32_t level, uintptr_t address);

/* Return line NUMBER, which must not be 0. */
struct sparse_line *sparse_line_at(uint32_t number);

/* Return the line whose number is *LINK. If *LINK is 0, append a line. Return NULL if memory is
 * exhausted. */
struct sparse_line *sparse_line_append(uint32_t *link);

/* Return the quota of LEVEL. Store the address of the total of evicted bytes in *RET_EVICTED_BYTES.
 * Return NULL if memory is exhausted. */
struct heap_quota *sparse_quota(uint32_t level, uint64_t **ret_evicted_bytes);

#endif

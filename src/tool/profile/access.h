/* access.h: counts of reads and writes of blocks, in a program that was built to count them.
 *
 * A block is added to these numbers when it ends. Blocks that are still live are added by a merge,
 * at exit or earlier. Therefore the number of blocks here may differ from the allocations in a
 * site's counters. */
#ifndef PROFILE_ACCESS_H
#define PROFILE_ACCESS_H

#include "base/base.h"
#include "util/arena.h"

/* Sum, minimum and maximum of a quantity over blocks. */
struct access_range {
    uint64_t total, min, max; // min is UINT64_MAX without blocks.
};

/* Sums over the blocks of a site. Like struct disk_access, which format.md 4.16 explains. */
struct profile_access {
    uint32_t site; // Index into sites; unique.
    uint64_t blocks;
    struct access_range accesses; // Reads and writes.
    struct access_range writes;   // 0 unless counted separately.
    struct access_range size_bytes;
    struct access_range lifetime_us;      // Lifetimes, of dated blocks only.
    struct access_range utilised;         // Share of the granules that were touched, in 1/100 %.
    struct access_range density;          // Accesses * 100 / size.
    struct access_range lifetime_density; // Density * 1000 / lifetime in ms, which is at least 1.
    uint64_t granules, touched_granules;
    uint64_t untouched_bytes;
    uint64_t never;      // Blocks without any access.
    // Blocks with writes and no reads; 0 unless counted separately. Excludes blocks that were
    // reallocated, because their data continues in another block.
    uint64_t write_only;
    uint64_t regrown;    // Blocks with writes and no reads that were reallocated at the same stack.
    // Blocks whose time and cpu of allocation are known; the next members count only these.
    uint64_t dated;
    uint64_t migrated;   // Blocks whose allocation and free ran on different cpus.
    uint64_t overlaps;   // Blocks that overlapped in time with the previously merged block.
    uint64_t same_alloc_cpu; // Blocks allocated on the same cpu as the previously merged block.
    uint64_t same_dealloc_cpu; // Blocks freed on the same cpu as the previously merged block.
    uint64_t alloc_us, dealloc_us; // Elapsed times of the block merged last.
    uint32_t alloc_cpu, dealloc_cpu; // Cpus of the block merged last.
    // Code without counting may have accessed some of the blocks, so "never" is not proven.
    bool unproven;
};

/* Counts of one granule in the blocks of a site. */
struct profile_access_field {
    uint32_t site;  // Index into sites.
    uint32_t index; // Offset of the granule in the block, in granules.
    uint64_t accesses, writes;
    uint64_t blocks;  // Blocks with an access to the granule.
    uint64_t reached; // Blocks large enough to have the granule.
};

/* Losses, in blocks; `accesses` counts accesses. */
struct profile_access_losses {
    uint64_t unmerged;  // Blocks whose counts were lost.
    uint64_t undated;   // Blocks whose time and cpu of allocation are not known.
    uint64_t unaligned; // Blocks whose counts may include a neighbour's accesses.
    uint64_t unfielded; // Blocks without room for counts by granule.
    uint64_t outside;   // Blocks at addresses without counters.
    uint64_t accesses;  // Accesses above 2^32 of a granule.
};

struct profile_accesses {
    uint32_t granule_bytes; // Bytes that share a counter: 8, 16 or 64; 0 = nothing was counted.
    uint32_t granules_max;  // Number of granules from a block's start that have counts in `fields`.
    bool separate;          // Reads and writes are counted separately.
    bool atomic;            // No counts are lost between threads.
    bool ended;             // The numbers include the blocks that were live at exit.
    // `uncounted` lists all code that may have accessed blocks without counting.
    bool looked;
    // List, for a sentence, of the code that may have accessed blocks without counting. With
    // `looked`, NULL or empty = none.
    const char *uncounted;
    uint64_t merge_ns;      // Elapsed time of the latest merge of live blocks; 0 = none.
    uint64_t resets;        // Number of requested resets of all counts.
    struct profile_access_losses losses;
    struct profile_access *v; // By site.
    size_t count;
    struct profile_access_field *fields; // By site, then by index.
    size_t field_count;
};

#define ACCESS_RANGE_NONE ((struct access_range){.min = UINT64_MAX})

#define ACCESS_NONE                                                                                \
    ((struct profile_access){.accesses = ACCESS_RANGE_NONE,                                        \
                             .writes = ACCESS_RANGE_NONE,                                          \
                             .size_bytes = ACCESS_RANGE_NONE,                                      \
                             .lifetime_us = ACCESS_RANGE_NONE,                                     \
                             .utilised = ACCESS_RANGE_NONE,                                        \
                             .density = ACCESS_RANGE_NONE,                                         \
                             .lifetime_density = ACCESS_RANGE_NONE})

/* Add A to SUM. Sums wrap; ranges are combined by minimum and maximum; the data of the last block
 * comes from the later one. A fresh sum is ACCESS_NONE. SUM's site stays. */
void access_add(struct profile_access *sum, const struct profile_access *a);

/* Add F to SUM, which belongs to the same granule of the same site. Sums wrap. */
void access_field_add(struct profile_access_field *sum, const struct profile_access_field *f);

/* Add L to SUM. */
void access_losses_add(struct profile_access_losses *sum, const struct profile_access_losses *l);

/* Merge A's settings and guarantees into SUM, without the numbers. Where they differ, SUM gets the
 * weaker guarantee. If the granule sizes differ, fields cannot be added and granules_max becomes 0.
 * SUM may be empty. Its `uncounted` lists the code of both, from ARENA. */
void access_join(struct arena *arena, struct profile_accesses *sum,
                 const struct profile_accesses *a);

/* Return true if all code that may have used A's blocks counted its accesses. Otherwise "never
 * accessed" is not proven. */
static inline bool
access_is_complete(const struct profile_accesses *a)
{
    return a->looked && (a->uncounted == NULL || a->uncounted[0] == '\0');
}

/* Sort the entries of A, and merge entries of the same site (and index). */
void access_sort(struct profile_accesses *a);

#endif

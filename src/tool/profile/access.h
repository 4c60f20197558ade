/* access.h: counts of reads and writes of blocks, in a program that was built to count them.
 *
 * A block is added to these numbers when it ends or, if it never does, at a merge of live blocks:
 * the merge at exit, or an earlier one. So the number of blocks here and the allocations in the
 * counters of a site may differ. */
#ifndef PROFILE_ACCESS_H
#define PROFILE_ACCESS_H

#include "base/base.h"
#include "util/arena.h"

/* A quantity that each block has: its sum over blocks, its minimum and its maximum. */
struct access_range {
    uint64_t total, min, max; // min is UINT64_MAX if there is no block.
};

/* The blocks of a site together. As struct disk_access, which format.md 4.16 explains. */
struct profile_access {
    uint32_t site; // Index into sites; no two have the same.
    uint64_t blocks;
    struct access_range accesses; // Reads and writes.
    struct access_range writes;   // 0 unless they are counted separately.
    struct access_range size_bytes;
    struct access_range lifetime_us;      // Dated blocks only.
    struct access_range utilised;         // Granules that were touched, in 1/100 %.
    struct access_range density;          // Accesses * 100 / size.
    struct access_range lifetime_density; // Density * 1000 / lifetime in ms, which is at least 1.
    uint64_t granules, touched_granules;
    uint64_t untouched_bytes;
    uint64_t never;      // Blocks without any access.
    uint64_t write_only; // Blocks with writes and no reads; 0 unless counted separately. Without
                         // reallocated blocks, whose data lives on.
    uint64_t regrown;    // Blocks with writes and no reads, reallocated at the same stack.
    uint64_t dated;      // Blocks with a known time and cpu of allocation. Numbers of these:
    uint64_t migrated;   // blocks that began and ended on different cpus,
    uint64_t overlaps;   // blocks that overlapped in time with the block merged before,
    uint64_t same_alloc_cpu; // blocks that began on the same cpu as that block, or ended
    uint64_t same_dealloc_cpu; // on the same cpu.
    uint64_t alloc_us, dealloc_us; // Elapsed, of the block merged last,
    uint32_t alloc_cpu, dealloc_cpu; // and its cpus.
    bool unproven; // Uncounted code may have accessed some of the blocks: "never" is not proven.
};

/* Counts of one place, a granule, in the blocks of a site. */
struct profile_access_field {
    uint32_t site;  // Index into sites.
    uint32_t index; // Offset of the granule in the block.
    uint64_t accesses, writes;
    uint64_t blocks;  // Blocks with an access there.
    uint64_t reached; // Blocks large enough to have it.
};

/* Losses, in blocks except for the last. */
struct profile_access_losses {
    uint64_t unmerged;  // Their counts were lost.
    uint64_t undated;   // Time and cpu of the allocation are not known.
    uint64_t unaligned; // They may include a neighbour's accesses.
    uint64_t unfielded; // There was no room for their granules.
    uint64_t outside;   // Their addresses have no counters.
    uint64_t accesses;  // Beyond 2^32 of some granules.
};

struct profile_accesses {
    uint32_t granule_bytes; // Bytes that share a counter: 8, 16 or 64; 0 = nothing was counted.
    uint32_t granules_max;  // Granules from the front of a block that fields cover.
    bool apart;             // Reads and writes are counted separately.
    bool atomic;            // Threads lose no count to each other.
    bool ended;             // Includes the blocks that were live at exit.
    bool looked;            // UNCOUNTED names all code that may have used blocks without counting.
    const char *uncounted;  // A list for a sentence; NULL or empty = none, if LOOKED.
    uint64_t merge_ns;      // Elapsed, of the latest merge of live blocks; 0 = there was none.
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

/* Add A to SUM, wrapping: ranges by minimum and maximum, last-block data from the one that ended
 * later. A fresh sum is ACCESS_NONE; its site stays. */
void access_add(struct profile_access *sum, const struct profile_access *a);

/* Add F to SUM, which is about the same place; wrapping. */
void access_field_add(struct profile_access_field *sum, const struct profile_access_field *f);

/* Add L to SUM. */
void access_losses_add(struct profile_access_losses *sum, const struct profile_access_losses *l);

/* Merge A's settings and guarantees into SUM, without the numbers. Where the two differ, SUM gets
 * the weaker guarantee. If granule sizes differ, fields cannot be added, and granules_max becomes
 * 0. SUM may be empty. Its `uncounted` lists the users of both, from ARENA. */
void access_join(struct arena *arena, struct profile_accesses *sum,
                 const struct profile_accesses *a);

/* Return true if all code that may have used A's blocks was counted. Otherwise "never" is not
 * justified. */
static inline bool
access_is_complete(const struct profile_accesses *a)
{
    return a->looked && (a->uncounted == NULL || a->uncounted[0] == '\0');
}

/* Sort the entries of A, and merge entries of one site (and index). */
void access_sort(struct profile_accesses *a);

#endif

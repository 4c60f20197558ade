/* size_totals.h: blocks by size: one bin per exact size up to 1024 bytes, and one for all larger
 * sizes. Bins cover the whole process, because sizes are not counted by stack. */
#ifndef ANALYSE_SIZE_TOTALS_H
#define ANALYSE_SIZE_TOTALS_H

#include "profile/profile.h"

enum { BIN_SIZE_MAX = 1024 };

#define BIN_LARGER UINT64_MAX

/* Blocks of one type in a bin, from sites that allocate only this size. */
struct bin_type {
    const char *name;
    uint32_t verdict; // VERDICT_LIKELY or VERDICT_CERTAIN
    struct counters counters;
};

struct bin_row {
    uint64_t size;            // BIN_LARGER for all sizes above BIN_SIZE_MAX.
    struct counters counters; // Only allocations, frees and their bytes.
    struct bin_type *known;   // Known types of blocks of this size, most bytes first.
    size_t known_count;
    const struct profile_type *types; // All types of this size, likeliest first.
    size_t type_count;
};

struct size_totals {
    struct bin_row *v; // By rising size.
    size_t count;
    struct counters total;
};

/* Build the rows with at least one allocation or free, and the row for larger blocks. From
 * ARENA. */
void size_totals_build(const struct profile *p, struct arena *arena, struct size_totals *ret);

/* Return pointers to the rows of BINS, most bytes first. From ARENA. */
const struct bin_row **size_totals_by_bytes(const struct size_totals *bins, struct arena *arena);

/* Bars of a histogram: sizes up to 16 bytes, then a bar for each power of two, then all larger
 * sizes. */
enum { BIN_BAR_COUNT = 8 };

struct bin_bar {
    uint64_t size_min, size_max; // Inclusive.
    struct counters counters;
};

/* Fill RET with all bars, including empty ones. */
void size_totals_bars(const struct size_totals *bins, struct bin_bar ret[BIN_BAR_COUNT]);

/* Return true if B, made from P, keeps the invariants above. Only reads; see util/ensure.h. */
bool size_totals_are_valid(const struct profile *p, const struct size_totals *b);

#endif

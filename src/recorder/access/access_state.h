/* access_state.h: the process's state for counting accesses. */
#ifndef ACCESS_ACCESS_STATE_H
#define ACCESS_ACCESS_STATE_H

#include "access/clock.h"
#include "base/atomics.h"
#include "platform/state.h"

enum {
    /* Number of granules at the front of a block that FIELDS records. */
    ACCESS_WORDS_MAX = 512,
    ACCESS_RUNS = ACCESS_WORDS_MAX / DISK_FIELD_WORDS,
    /* Maximum number of (site, part) pairs with fields. */
    ACCESS_FIELD_SITES = 1 << 20,
};

/* Indexes of the records of one site, one for each part (enum disk_access_part). */
struct access_site {
    uint32_t record[DISK_ACCESS_PARTS]; // Atomic: index in ACCESS plus 1; 0 = none yet.
    uint32_t runs[DISK_ACCESS_PARTS];   // Atomic: index into access_state.runs; 0 = none yet.
};

/* Indexes of the FIELDS records of one site and part. The position is the record's first granule
 * divided by DISK_FIELD_WORDS. */
struct access_runs {
    uint32_t record[ACCESS_RUNS]; // Atomic: index plus 1; 0 = none yet.
};

/* Progress of the merge in live.c. Only the thread that has set `merging` may use it. */
struct live_merging {
    bool under_way;
    struct live_place {
        uint64_t leaf; // Next leaf of the ledger.
        uint32_t page; // Next page of memory in that leaf.
        uint32_t side; // Next side table, after the last leaf.
    } place;
    uint64_t began_us, took_us; // Elapsed time when the merge began, and sum of the durations of
                                // its steps.
    struct live_page {
        uintptr_t from;
        uint64_t bytes; // Valid bytes in `words`; 0 = none.
        uint64_t words[4096 / 8 + 2];
    } page; // Copy of a page of the program's memory, and of the words before the page.
};

/* State for counting. It is in private memory, so a forked child sees zeros. */
struct access_state {
    uint32_t ready; // Atomic: 1 = all fields below are initialised.
    uint32_t merging; // Atomic: 1 = a thread is merging live blocks or discarding their counts.
    struct access_site *sites;
    struct access_runs *runs;
    uint32_t runs_used; // Atomic: number of entries in use.
    struct cycle_clock cycle_clock;
    struct live_merging live;
    uint64_t next_step_us; // Atomic: elapsed time of the next merging step.
    // Marks of live.c: a byte for each granule of the ledger, with the number, modulo 255, plus 1,
    // of the last merge that included the block there. An array for each span of LEDGER_SPAN_BITS.
    // NULL = no merge yet.
    uint8_t **seen;
};

extern struct access_state *access_state;

/* Return the header's record of access counting, which includes the losses. */
static inline struct disk_counting *
access_counting(void)
{
    return &state->header->counting;
}

/* Add V to *P. Atomic once there are several threads. */
static inline void
access_add(uint64_t *p, uint64_t v)
{
    if (likely(!load_relaxed(&state->multi)))
        bump_by(p, v);
    else if (v != 0)
        add_relaxed(p, v);
}

#endif

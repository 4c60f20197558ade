/* access_state.h: what the counting of accesses knows of this process. */
#ifndef ACCESS_ACCESS_STATE_H
#define ACCESS_ACCESS_STATE_H

#include "access/cycles.h"
#include "base/atomics.h"
#include "platform/state.h"

enum {
    /* Granules of a block of which FIELDS knows. */
    ACCESS_WORDS_MAX = 512,
    ACCESS_RUNS = ACCESS_WORDS_MAX / DISK_FIELD_WORDS,
    /* Sites and parts that have fields. */
    ACCESS_FIELD_SITES = 1 << 20,
};

/* Where the records of one site are, by part. */
struct access_site {
    uint32_t record[DISK_ACCESS_PARTS]; // Atomic: index in ACCESS plus 1; 0 = none yet.
    uint32_t runs[DISK_ACCESS_PARTS];   // Atomic: index into field_runs; 0 = none yet.
};

/* Where those of one site and part are in FIELDS, by their first granule / DISK_FIELD_WORDS. */
struct access_runs {
    uint32_t record[ACCESS_RUNS]; // Atomic: index plus 1; 0 = none yet.
};

/* What live.c has been doing: for whoever has his turn. */
struct live_merging {
    bool under_way;
    struct live_place {
        uint64_t leaf; // Of the ledger, the one that is next,
        uint32_t page; // and the page of its memory;
        uint32_t side; // then the side table.
    } place;
    uint64_t began_us, took_us; // Elapsed, and all steps together.
    struct live_page {
        uintptr_t from;
        uint64_t bytes; // 0 = nothing is known.
        uint64_t words[4096 / 8 + 2];
    } page; // A copy of memory of the program's, with what stands in front of the page.
};

/* Private memory, which a forked child sees as zeros. */
struct access_state {
    uint32_t ready; // Atomic: 1 = there is all that follows.
    uint32_t merging; // Atomic: a thread has its turn to merge live blocks, or to forget.
    struct access_site *sites;
    struct access_runs *runs;
    uint32_t runs_used; // Atomic.
    struct cycles cycles;
    struct live_merging live;
    uint64_t next_step_us; // Atomic: elapsed, when to go on with merging.
    // live.c: which merge a block was last in, modulo 255, plus 1; a byte for each granule of the
    // ledger, by spans of LEDGER_SPAN_BITS. NULL = none was.
    uint8_t **seen;
};

extern struct access_state *access_state;

/* What is not known is counted here. */
static inline struct disk_counting *
access_counting(void)
{
    return &state->header->counting;
}

/* Add V to *P, which other threads add to as well once there are any. */
static inline void
access_add(uint64_t *p, uint64_t v)
{
    if (likely(!load_relaxed(&state->multi)))
        bump_by(p, v);
    else if (v != 0)
        add_relaxed(p, v);
}

#endif

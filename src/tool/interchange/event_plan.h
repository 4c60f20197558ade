/* event_plan.h: a possible event stream for a profile's counters, for formats that list events.
 *
 * A plan proceeds from moment to moment in steps. In each step blocks are freed, then some come and
 * go, then blocks are allocated that stay at least until the moment has passed:
 *
 *     step 0   . frees  . churn  . allocations   -> moment 0
 *     step 1   . frees  . churn  . allocations   -> moment 1     (one of them is the peak)
 *     …                                             the last one is the end */
#ifndef INTERCHANGE_EVENT_PLAN_H
#define INTERCHANGE_EVENT_PLAN_H

#include "analyse/stacks.h"

#define PLAN_NONE UINT32_MAX

/* A site, whose blocks are planned separately. No number is negative. */
struct plan_unit {
    uint32_t stack; // Index into stacks.
    int64_t allocations, allocated_bytes, temporary, peak_bytes, live_bytes;
    // Churn: its blocks and bytes, and the number of blocks that die at once.
    int64_t churn_blocks, churn_bytes, die_at_once;
};

/* Blocks of a unit that are allocated in step START and freed in step END. PLAN_NONE as END: they
 * are never freed. */
struct plan_piece {
    uint32_t unit, start, end;
    uint32_t row;    // Private to event_plan.c.
    bool dies_at_once; // One block; only a moment is between its allocation and its free.
    int64_t blocks, bytes;
};

/* Number of blocks of a unit that come and go in STEP. */
struct plan_churn {
    uint32_t unit, step;
    int64_t blocks;
};

struct plan_step {
    uint64_t elapsed_ns; // Time of its moment.
    int64_t room;        // Bytes of churn that fit below the peak.
    // Ranges in starting, ending and churns.
    size_t starts, starts_end, ends, ends_end, churns, churns_end;
};

struct plan {
    struct plan_unit *units;
    size_t unit_count;
    struct plan_piece *pieces;
    size_t piece_count, piece_capacity;
    struct plan_churn *churns; // By step.
    size_t churn_count, churn_capacity;
    struct plan_step *steps; // At least two.
    size_t step_count;
    uint32_t peak_step;
    uint32_t *starting, *ending; // Indices of pieces, by step of start and of end.
    // Unit of an empty block that is allocated first and is in none of the above; PLAN_NONE if
    // there is none.
    uint32_t marker;
};

/* Plan the events of P for STACKS. Requires P to cover a whole run. Everything in *RET is from
 * ARENA. */
void event_plan(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                struct plan *ret);

#endif

/* thread_shares.h: allocations of each thread, with their frees by any thread. See
 * thread_shares.c. */
#ifndef ANALYSE_THREAD_SHARES_H
#define ANALYSE_THREAD_SHARES_H

#include "analyse/stacks.h"

/* Allocations and frees of a thread row. */
struct thread_share {
    // Its allocations, with their frees by any thread.
    struct counters counters;
    // Lower bound of its frees of blocks that others allocated; -1 = unknown (between two moments).
    int64_t for_others_blocks, for_others_bytes;
};

struct thread_shares {
    struct thread_share *v; // By index into p->threads.
    // Some live or peak bytes belong to sites at which several threads allocate and some free for
    // others. They are charged to threads in proportion, which is an estimate.
    bool live_is_shared, peak_is_shared;
};

/* Charge the sites that STACKS kept, or every site if STACKS is NULL, to P's threads. From
 * ARENA. */
void threads_charge(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                    struct thread_shares *ret);

#endif

/* thread_shares.h: allocations of each thread and their fate. See thread_shares.c. */
#ifndef ANALYSE_THREAD_SHARES_H
#define ANALYSE_THREAD_SHARES_H

#include "analyse/stacks.h"

/* For a row of threads. */
struct thread_share {
    // Blocks that it allocated, with their frees by any thread.
    struct counters counters;
    // Lower bound of its frees of blocks that others allocated; -1 = unknown, as between two
    // moments.
    int64_t for_others_blocks, for_others_bytes;
};

struct thread_shares {
    struct thread_share *v; // As p->threads.
    // Some live or peak bytes belong to sites at which several threads allocate and some free for
    // others; each thread was charged in proportion.
    bool live_is_shared, peak_is_shared;
};

/* Shares of P's threads at the sites that STACKS kept, or at every site if it is NULL. From
 * ARENA. */
void threads_charge(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                    struct thread_shares *ret);

#endif

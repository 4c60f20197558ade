/* thread_shares.h: what each thread has allocated, and what has become of it. See
 * thread_shares.c. */
#ifndef ANALYSE_THREAD_SHARES_H
#define ANALYSE_THREAD_SHARES_H

#include "analyse/stacks.h"

/* Of a row of threads. */
struct thread_share {
    // Of the blocks that it allocated: their frees too, whoever freed them.
    struct counters counters;
    // Of what it freed, at least so much had been allocated by others; -1 = not known, as between
    // two moments.
    int64_t for_others_blocks, for_others_bytes;
};

struct thread_shares {
    struct thread_share *v; // As p->threads.
    // Some of what is live, or was at the peak, is of sites at which several threads allocate and
    // some free for others: of that each was charged with a share in proportion.
    bool live_is_shared, peak_is_shared;
};

/* What the threads of P did at the sites that STACKS has kept, or at all sites if it is NULL. From
 * ARENA. */
void threads_charge(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                    struct thread_shares *ret);

#endif

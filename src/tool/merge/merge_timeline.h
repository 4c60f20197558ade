/* merge_timeline.h: the sum of timelines. */
#ifndef MERGE_MERGE_TIMELINE_H
#define MERGE_MERGE_TIMELINE_H

#include "profile/profile.h"

enum { MERGE_TIME_POINTS = 1024 };

/* Changes in an interval of time. All times are multiples of the grid's width. */
struct time_step {
    uint64_t index; // End of the stretch, in widths.
    int64_t live;   // Change of live bytes.
    int64_t ended;  // The same, because a process ended.
    uint64_t events;
};

/* The sum of timelines on one clock. Zero is empty. */
struct time_sum {
    struct time_step steps[MERGE_TIME_POINTS + 1]; // By time.
    size_t count;
    uint32_t width_bits; // The grid is 2^width_bits ns.
};

/* Add the live bytes of P over time. */
void time_sum_add(struct time_sum *t, const struct profile *p);

/* Store the points of T in P. Requires P's start to be set. Its last process ended at
 * END_UNIX_NS. */
void time_sum_finish(const struct time_sum *t, uint64_t end_unix_ns, struct profile *p);

/* Return START plus ELAPSED; saturated. */
uint64_t time_after(uint64_t start, uint64_t elapsed);

/* Return the time when P's recording ended; saturated. */
uint64_t time_of_end(const struct profile *p);

#endif

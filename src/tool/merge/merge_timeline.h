/* merge_timeline.h: sum timelines. */
#ifndef MERGE_MERGE_TIMELINE_H
#define MERGE_MERGE_TIMELINE_H

#include "profile/profile.h"

enum { MERGE_TIME_POINTS = 1024 };

/* Changes in one interval of the grid. */
struct time_step {
    uint64_t index; // End of the interval, in grid widths.
    int64_t live;   // Change of live bytes.
    int64_t ended;  // Part of `live` that is due to ended processes.
    uint64_t events;
};

/* Sum of timelines on one clock. {0} is empty. */
struct time_sum {
    struct time_step steps[MERGE_TIME_POINTS + 1]; // By time.
    size_t count;
    uint32_t width_bits; // The grid's width is 2^width_bits ns.
};

/* Add the timeline of P. */
void time_sum_add(struct time_sum *t, const struct profile *p);

/* Store the points of T in P. Requires P's start to be set. Its last process ended at
 * END_UNIX_NS. */
void time_sum_finish(const struct time_sum *t, uint64_t end_unix_ns, struct profile *p);

/* Return START + ELAPSED, saturating. */
uint64_t time_after(uint64_t start, uint64_t elapsed);

/* Return the wall clock time when P's recording ended, saturating. */
uint64_t time_of_end(const struct profile *p);

#endif

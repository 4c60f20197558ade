/* load_counters.h: threads, and counters by site and by size. */
#ifndef LOAD_LOAD_COUNTERS_H
#define LOAD_LOAD_COUNTERS_H

#include "load/loader.h"

/* Load the threads, merging those of equal name, and the owners of bins. */
void load_threads(struct loader *l);

/* Load the counters of sites and backings. Returns the number of counters without a site. Requires
 * load_sites and load_threads. */
size_t load_blocks(struct loader *l);

/* If live bytes exceed the recorded peak (threads publish late), make the present the peak.
 * Requires load_errors, whose peaks rise as well. */
void loader_raise_peak(struct profile *p);

/* Compute the peak error. Requires loader_raise_peak and load_programs. */
void loader_bound_peak(struct loader *l);

/* If the lifetimes of some blocks are unknown, drop all lifetime counts. Requires load_modes and
 * profile_sum_heaps. */
void loader_decide_lives(struct loader *l);

/* Load the counters by size. Requires load_threads, which finds the owners of bins. */
void load_bins(struct loader *l);

/* Count the losses that follow from the stacks that allocations were charged to. */
void loader_count_doubtful(struct profile *p);

#endif

/* load_counters.h: threads, and counters by site and by size. */
#ifndef LOAD_LOAD_COUNTERS_H
#define LOAD_LOAD_COUNTERS_H

#include "load/loader.h"

/* Load the threads, merging threads of equal name, and the owners of bins. */
void load_threads(struct loader *l);

/* Load the counters of sites and backings. Return the number of counters without a site. Requires
 * load_sites and load_threads. */
size_t load_blocks(struct loader *l);

/* If live bytes exceed the recorded peak, because threads publish late, make the current state the
 * peak. Requires load_errors, whose peaks are changed as well. */
void loader_raise_peak(struct profile *p);

/* Compute the maximum error of the peak. Requires loader_raise_peak and load_programs. */
void loader_bound_peak(struct loader *l);

/* Clear all lifetime counts if the lifetimes of some blocks are unknown. Requires load_modes and
 * profile_sum_heaps. */
void loader_decide_lives(struct loader *l);

/* Load the counters by size. Requires load_threads, which determines the owners of bins. */
void load_bins(struct loader *l);

/* Count the losses that follow from the flags of stacks. */
void loader_count_doubtful(struct profile *p);

#endif

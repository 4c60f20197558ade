/* load_counters.h: threads, and counters by site and by size. */
#ifndef LOAD_LOAD_COUNTERS_H
#define LOAD_LOAD_COUNTERS_H

#include "load/loader.h"

/* Load the threads, merging those of equal name, and the owners of bins. */
void load_threads(struct loader *l);

/* The blocks of counters, of sites and of backings; returns the number of counters that belong to
 * no site. After load_sites and load_threads. */
size_t load_blocks(struct loader *l);

/* If more is live now than at the peak that was attributed (threads keep a little back), now is
 * the peak. After load_errors, whose peaks rise with it. */
void loader_raise_peak(struct profile *p);

/* How far the peak may be from the true one. After loader_raise_peak and load_programs. */
void loader_bound_peak(struct loader *l);

/* If it is not known of all blocks how long they lived, forget of how many it is. After
 * load_ways and profile_sum_heaps. */
void loader_judge_lives(struct loader *l);

/* Load the counters by size. Requires load_threads, which finds the owners of bins. */
void load_bins(struct loader *l);

/* Losses that are known by where allocations were charged to. */
void loader_count_doubtful(struct profile *p);

#endif

/* load_sampling.h: how the counts came about, and what they may be off by. */
#ifndef LOAD_LOAD_SAMPLING_H
#define LOAD_LOAD_SAMPLING_H

#include "load/loader.h"

/* What the estimates may be off by; returns the number of records that belong to no site. */
size_t load_errors(struct loader *l);

/* A profile of an older recorder has no ways of recording: it is exact. */
void load_ways(struct loader *l);

/* What a sample that was just missed would have added to each site. After load_errors, load_blocks
 * and load_ways. */
void load_units(struct loader *l);

#endif

/* load_sampling.h: load recording modes and error bounds. */
#ifndef LOAD_LOAD_SAMPLING_H
#define LOAD_LOAD_SAMPLING_H

#include "load/loader.h"

/* Load the error bounds of the estimates. Return the number of records without a site. */
size_t load_errors(struct loader *l);

/* Load the recording modes. A profile of an older recorder has none, and is exact. */
void load_modes(struct loader *l);

/* Compute the amount that one missed sample would have added to each site. Requires load_errors,
 * load_blocks and load_modes. */
void load_units(struct loader *l);

#endif

/* load_sampling.h: recording modes and error bounds. */
#ifndef LOAD_LOAD_SAMPLING_H
#define LOAD_LOAD_SAMPLING_H

#include "load/loader.h"

/* Load the error bounds of the estimates. Returns the number of records without a site. */
size_t load_errors(struct loader *l);

/* A profile of an older recorder has no recording modes: it is exact. */
void load_modes(struct loader *l);

/* Compute how much one missed sample would have added to each site. Requires load_errors,
 * load_blocks and load_modes. */
void load_units(struct loader *l);

#endif

/* load_access.h: load the counts of accesses to the blocks of sites. */
#ifndef LOAD_LOAD_ACCESS_H
#define LOAD_LOAD_ACCESS_H

#include "load/loader.h"

/* Load the access counts, if there are any. Returns the number of records without a site. Requires
 * load_blocks. */
size_t load_accesses(struct loader *l);

#endif

/* load_access.h: load the access counts of sites. */
#ifndef LOAD_LOAD_ACCESS_H
#define LOAD_LOAD_ACCESS_H

#include "load/loader.h"

/* Load the access counts, if there are any. Return the number of records without a site. Requires
 * load_blocks. */
size_t load_accesses(struct loader *l);

#endif

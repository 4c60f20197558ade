/* load_access.h: how often the blocks of sites were accessed. */
#ifndef LOAD_LOAD_ACCESS_H
#define LOAD_LOAD_ACCESS_H

#include "load/loader.h"

/* What was counted of accesses, if anything was; returns the number of records that belong to no
 * site. After load_blocks. */
size_t load_accesses(struct loader *l);

#endif

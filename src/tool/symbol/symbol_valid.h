/* symbol_valid.h: whether the tables by which names are found keep the promises of symcache.h and
 * ranges.h. See util/ensure.h for what validity functions are. Both only read. */
#ifndef SYMBOL_SYMBOL_VALID_H
#define SYMBOL_SYMBOL_VALID_H

#include "symbol/ranges.h"
#include "symbol/symcache.h"

bool symcache_is_valid(const struct symcache *c);

/* R, after ranges_sort. */
bool ranges_are_valid(const struct ranges *r);

#endif

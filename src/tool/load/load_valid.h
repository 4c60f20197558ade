/* load_valid.h: invariants of a profile right after loading. Private to src/tool/load. */
#ifndef LOAD_LOAD_VALID_H
#define LOAD_LOAD_VALID_H

#include "profile/profile.h"

/* Return true if P, which is valid (profile_valid.h), also satisfies the loader's invariants. Only
 * reads. */
bool loaded_is_valid(const struct profile *p);

#endif

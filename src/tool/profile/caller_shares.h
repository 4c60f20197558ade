/* caller_shares.h: estimates the callers of allocations that were recorded without them. */
#ifndef PROFILE_CALLER_SHARES_H
#define PROFILE_CALLER_SHARES_H

#include "profile/profile.h"

/* Distribute the counts of P's short stacks over the whole stacks of the same sites, and set the
 * errors of these shares. Short stacks of sites without any whole stack stay. The sums over each
 * site, thread, heap, label set and interval do not change. Does nothing without short stacks. Call
 * before P is cut or its runtimes are folded; the result cannot be written to a file. The other
 * short stacks stay as sites without counts if KEEP is true, or if accesses were counted: these,
 * and blocks of memory, belong to them. */
void callers_spread(struct profile *p, bool keep);

#endif

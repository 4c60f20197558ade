/* profile_valid.h: check the invariants of profile.h. util/ensure.h explains validity functions.
 * Each function only reads, and takes time proportional to the tables. */
#ifndef PROFILE_PROFILE_VALID_H
#define PROFILE_PROFILE_VALID_H

#include "profile/profile.h"

/* Return true if the counts of A and B are equal; times are ignored. */
bool counters_are_same(const struct counters *a, const struct counters *b);

/* Return true if all ids are valid and all sorted tables are sorted. Holds after loading, or from
 * the first merge_add on, and after every operation on a profile. */
bool profile_ids_are_valid(const struct profile *p);

/* Return true if the totals equal the sums by thread and site, and by site, heap and labels. Does
 * not hold during a merge, which sums heaps at its end. Counts may have any value; sums wrap. */
bool profile_sums_are_valid(const struct profile *p);

/* Return true if both of the above hold and types are sorted. A module may rely on this for every
 * profile. */
bool profile_is_valid(const struct profile *p);

/* Return true if P, which is valid, also meets write_model's requirements: room for "other", and
 * site ids as in a file. */
bool profile_is_writable(const struct profile *p);

#endif

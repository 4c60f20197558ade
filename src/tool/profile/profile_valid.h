/* profile_valid.h: check the invariants of profile.h. util/ensure.h explains validity functions.
 * All of these only read; they take time in proportion to the tables. */
#ifndef PROFILE_PROFILE_VALID_H
#define PROFILE_PROFILE_VALID_H

#include "profile/profile.h"

/* Are the counts of A and B equal, whatever their times? */
bool counters_are_same(const struct counters *a, const struct counters *b);

/* Are all ids valid and all sorted tables sorted, as code that follows an id assumes? Holds from
 * the loader or the first merge_add on, through all operations on a profile. */
bool profile_ids_are_valid(const struct profile *p);

/* Do totals equal the sums of the shown values: by thread and site, and by site, heap and labels?
 * Not during a merge, which sums heaps up at its end. Counts may have any value, sums wrap. */
bool profile_sums_are_valid(const struct profile *p);

/* Both, and types are in order: what one module may expect of a profile that another has made. */
bool profile_is_valid(const struct profile *p);

/* What write_model asks of a valid profile beside that: room for "other", and the ids of sites. */
bool profile_is_writable(const struct profile *p);

#endif

/* profile_valid.h: whether a model keeps the promises of profile.h. See util/ensure.h for what
 * validity functions are. All of these only read; they take as long as the tables are. */
#ifndef PROFILE_PROFILE_VALID_H
#define PROFILE_PROFILE_VALID_H

#include "profile/profile.h"

/* Whether A and B count the same; of which time they are does not matter. */
bool counters_are_same(const struct counters *a, const struct counters *b);

/* Ids lead to what is there, what is in order is in order: what code that follows an id relies on.
 * Holds from the loader or the first merge_add on, and through all that is done to a profile. */
bool profile_ids_are_valid(const struct profile *p);

/* Totals are the sums of what is shown, by thread and site as well as by site, heap and labels. Not
 * while a merge goes on, which sums heaps up at its end. Counts may be anything, sums wrap. */
bool profile_sums_are_valid(const struct profile *p);

/* Both, and types are in order: what one module may expect of a profile that another has made. */
bool profile_is_valid(const struct profile *p);

/* What write_model asks of a valid profile beside that: room for "other", and the ids of sites. */
bool profile_is_writable(const struct profile *p);

#endif

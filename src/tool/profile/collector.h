/* collector.h: garbage collections of a process; see collector.c. */
#ifndef PROFILE_COLLECTOR_H
#define PROFILE_COLLECTOR_H

#include "profile/profile.h"

struct profile_collected {
    bool is_collected;    // At least one heap is garbage-collected.
    uint64_t collections; // Number of collections.
    // Elapsed time of the last collection; 0 = none, or in a sum of processes.
    uint64_t last_ns;
    int64_t listed; // Objects that were returned in lists; it is unknown which of them were used.
};

struct profile_collected profile_collected(const struct profile *p);

/* Return the number of collections before M. */
uint64_t profile_collections_at(const struct profile *p, const struct profile_point *m);

/* Return true if M is a snapshot that was taken at the end of a collection. */
bool profile_is_collection(const struct profile *p, const struct profile_point *m);

#endif

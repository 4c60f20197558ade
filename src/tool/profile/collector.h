/* collector.h: garbage collections of a process; see collector.c. */
#ifndef PROFILE_COLLECTOR_H
#define PROFILE_COLLECTOR_H

#include "profile/profile.h"

struct profile_collected {
    bool is_collected;    // There is a heap whose objects end when a collector finds them dead,
    uint64_t collections; // which it did so often,
    uint64_t last_ns;     // the last time then, elapsed; 0 = never, or in a sum of processes.
    int64_t listed; // Objects that were given out many at once: which were taken is not known.
};

struct profile_collected profile_collected(const struct profile *p);

/* How many collections there had been at M. */
uint64_t profile_collections_at(const struct profile *p, const struct profile_moment *m);

/* Is M a snapshot that was taken because a collection was over? */
bool profile_is_collection(const struct profile *p, const struct profile_moment *m);

#endif

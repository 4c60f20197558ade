/* periodic.h: asking all processes of a run for a snapshot, every so often. */
#ifndef LAUNCH_PERIODIC_H
#define LAUNCH_PERIODIC_H

#include "base/base.h"

struct periodic {
    uint64_t session_id;
    uint64_t period_ns;         // 0 = never.
    const char *directories[2]; // Where the profiles are; NULL = none. They may not exist.
    uint64_t start_ns, turns;   // Time of the first look, and number of looks due since then.
};

/* Ask for snapshots if they are due; P->period_ns is not 0. Returns in how many ns the next are. */
uint64_t periodic_look(struct periodic *p);

#endif

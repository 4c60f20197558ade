/* periodic.h: request snapshots from all processes of a run at regular intervals. */
#ifndef LAUNCH_PERIODIC_H
#define LAUNCH_PERIODIC_H

#include "base/base.h"

struct periodic {
    uint64_t session_id;
    uint64_t period_ns;         // 0 = never.
    const char *directories[2]; // Directories of the profiles; NULL = none. They may not exist.
    uint64_t start_ns, turns;   // Time of the first call, and number of snapshots due since then.
};

/* Request snapshots if they are due. Requires P->period_ns != 0. Returns the ns until the next. */
uint64_t periodic_poll(struct periodic *p);

#endif

/* history_prune.h: reduce the snapshots of a file that is packed. */
#ifndef PROFILE_HISTORY_PRUNE_H
#define PROFILE_HISTORY_PRUNE_H

#include "profile/raw.h"

/* Limits of a packed file. It keeps HISTORY_PRUNE_TIMED_MAX snapshots of the timeline. While the
 * history has more than HISTORY_PRUNE_RECORDS records, it keeps fewer, but at least
 * HISTORY_PRUNE_TIMED_MIN. Snapshots with names are always kept. */
enum {
    HISTORY_PRUNE_TIMED_MAX = 256,
    HISTORY_PRUNE_TIMED_MIN = 64,
    HISTORY_PRUNE_RECORDS = 1 << 15
};

/* Remove snapshots of the timeline from RAW's tables, in place, together with the history's records
 * that become redundant. The counters at the remaining snapshots do not change. */
void history_prune_snapshots(struct raw_file *raw);

#endif

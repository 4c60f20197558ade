/* history_prune.h: drop snapshots when a file is packed. */
#ifndef PROFILE_HISTORY_PRUNE_H
#define PROFILE_HISTORY_PRUNE_H

#include "profile/raw.h"

/* HISTORY_PRUNE_TIMED_MAX snapshots of the timeline are kept; fewer while the history has more than
 * HISTORY_PRUNE_RECORDS records, but at least HISTORY_PRUNE_TIMED_MIN. Snapshots with names are
 * always kept. */
enum {
    HISTORY_PRUNE_TIMED_MAX = 256,
    HISTORY_PRUNE_TIMED_MIN = 64,
    HISTORY_PRUNE_RECORDS = 1 << 15
};

/* Remove snapshots of the timeline from RAW's tables, in place, with the records of the history
 * that become redundant. The counters at the remaining snapshots do not change. */
void history_prune_snapshots(struct raw_file *raw);

#endif

/* thin.h: drop snapshots when a file is packed. */
#ifndef PROFILE_THIN_H
#define PROFILE_THIN_H

#include "profile/raw.h"

/* THIN_TIMED_MAX snapshots of the timeline are kept; fewer while the history has more than
 * THIN_RECORDS records, but at least THIN_TIMED_MIN. Snapshots with names are always kept. */
enum { THIN_TIMED_MAX = 256, THIN_TIMED_MIN = 64, THIN_RECORDS = 1 << 15 };

/* Remove snapshots of the timeline from RAW's tables, in place, with the records of the history
 * that become redundant. The counters at the remaining snapshots do not change. */
void thin_snapshots(struct raw_file *raw);

#endif

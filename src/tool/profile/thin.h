/* thin.h: fewer snapshots in a file that is packed. */
#ifndef PROFILE_THIN_H
#define PROFILE_THIN_H

#include "profile/raw.h"

/* THIN_TIMED_MAX snapshots of the timeline are kept; fewer while the history has more than
 * THIN_RECORDS records, but at least THIN_TIMED_MIN. Snapshots with names are always kept. */
enum { THIN_TIMED_MAX = 256, THIN_TIMED_MIN = 64, THIN_RECORDS = 1 << 15 };

/* Take snapshots of the timeline, and the records of the history that say nothing without them, out
 * of RAW's tables, which are changed in place. What counters were at the snapshots that are left
 * stays as it was. */
void thin_snapshots(struct raw_file *raw);

#endif

/* time_slice.h: cut a profile to a moment, or to the time between two moments. */
#ifndef PROFILE_TIME_SLICE_H
#define PROFILE_TIME_SLICE_H

#include "profile/profile.h"

/* Set *RET to the moment called WHEN:
 *
 *     loaded, loaded#2   the snapshot or phase of that name, the latest or the second one
 *     90s 5m 1h30m       the last snapshot at or before that time after the start of P's clock
 *     -5m                the last snapshot at or before that time before the end of that clock
 *     start, end         before the first event; after the last one so far
 *     peak               when most was live; only --at knows it
 *
 * A time and the last three words never mean a snapshot of that name; "end#1" does.
 *
 * Returns 0, or HEAPTAP_BAD_INPUT with ERR set if P has no such moment. Without a history, P has
 * only its start, end and peak. */
int time_slice_find(struct profile *p, const char *when, struct profile_point *ret,
                    struct err *err);

/* Return true if NAME would be ambiguous as the name of a snapshot: a time, start, end, peak, or a
 * text with "..". */
bool time_slice_is_reserved(const char *name);

/* Return 0 if P has a history, else HEAPTAP_BAD_INPUT with ERR set. */
int time_slice_need_history(struct profile *p, struct err *err);

/* Set RET to the two moments of SPAN: "A..B", where A defaults to the start and B to the end, or
 * the name of a phase, which lasts until the next phase begins. Returns as time_slice_find. */
int time_slice_find_span(struct profile *p, const char *span, struct profile_point ret[2],
                         struct err *err);

/* Reduce P, which must be whole, to its counters at TO or, if FROM is not NULL, to the changes
 * between FROM and TO (enum profile_extent). Live values between two moments are growths, and may
 * be negative. */
void profile_cut(struct profile *p, const struct profile_point *from,
                 const struct profile_point *to);

/* Reduce P, a later reading of the process of EARLIER, both whole, to the changes between the two
 * readings. Live values are growths. All counts belong to one thread. */
void profile_cut_since(struct profile *p, const struct profile *earlier);

/* Return the moment of P's snapshot number N, counted from 1; 0 is the start, and snapshot_count +
 * 1 the end. */
struct profile_point point_at(const struct profile *p, size_t n);

/* Return START + ELAPSED, saturating. */
uint64_t time_after(uint64_t start, uint64_t elapsed);

/* Return the wall clock time when P's recording ended, saturating. */
uint64_t time_of_end(const struct profile *p);

/* --- fold_runtime.c: remove an interpreter's frames from stacks with named frames. */

/* Charge the runtime's code in stacks with named frames to the frames around it. P must be
 * symbolised. Afterwards P is for display only and must not be written to a file. */
void fold_runtime(struct profile *p);

#endif

/* at.h: a profile as it was at a moment, or of what happened between two. */
#ifndef PROFILE_AT_H
#define PROFILE_AT_H

#include "profile/profile.h"

/* The moment that WHEN names:
 *
 *     loaded, loaded#2   the snapshot or phase of that name, the latest or the second one
 *     90s 5m 1h30m       the last snapshot at or before that long after the start
 *     -5m                the same, before the end
 *     start, end         nothing recorded yet; all of it (or now)
 *
 * HEAPTAP_USAGE with ERR set if there is none. */
int at_find(struct profile *p, const char *when, struct profile_moment *ret, struct err *err);

/* The two moments of SPAN: "A..B", where no A is the start and no B the end, or a phase's name,
 * which is from its beginning to that of the next. As at_find. */
int at_find_span(struct profile *p, const char *span, struct profile_moment ret[2],
                 struct err *err);

/* Make P what it was at TO; or with a FROM, of what happened from then on until TO: see enum
 * profile_extent. Live values are then growths and may be negative. P is whole. */
void profile_cut(struct profile *p, const struct profile_moment *from,
                 const struct profile_moment *to);

/* The moment of the first N snapshots of P: 0 is the start, snapshot_count + 1 the end. */
struct profile_moment at_moment(const struct profile *p, size_t n);

#endif

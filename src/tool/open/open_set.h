/* open_set.h: open the profiles that the user named. */
#ifndef OPEN_OPEN_SET_H
#define OPEN_OPEN_SET_H

#include "option/view_opts.h"
#include "view/session.h"

/* Open WHAT (NULL: the newest *.heaptap of the current directory): one profile, or the profiles of
 * a session that --only selects, largest first, each cut to --at or --between. The profiles are not
 * symbolised yet. Returns 0, or the exit code after reporting the error. The caller closes *RET in
 * either case. */
int set_open(const char *what, const struct view_options *options, struct view_set *ret);
void set_close(struct view_set *set);

enum set_history { SET_WITHOUT_HISTORY, SET_WITH_HISTORY };

/* If SET, opened from WHAT under OPTIONS, has or should have several profiles, replace them by the
 * sum of the readable ones; HISTORY keeps their histories (merge_keep_history). Then symbolise.
 * Returns 0, or the exit code after reporting the error. */
int set_merge(struct view_set *set, const char *what, const struct view_options *options,
              enum set_history history);

#endif

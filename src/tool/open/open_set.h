/* open_set.h: open the profiles that the user named. */
#ifndef OPEN_OPEN_SET_H
#define OPEN_OPEN_SET_H

#include "option/view_opts.h"
#include "view/session.h"

/* Open WHAT (NULL: the newest *.heaptap of the current directory): one profile, or the profiles of
 * a session that --only selects, largest first. Each is cut to --at or --between. The profiles are
 * not symbolised yet. Returns 0, or the exit code after reporting the error. The caller closes *RET
 * in either case. */
int set_open(const char *what, const struct view_options *options, struct view_set *ret);
void set_close(struct view_set *set);

enum set_history { SET_WITHOUT_HISTORY, SET_WITH_HISTORY };

/* Replace the profiles of SET by their sum, if there are several or some were unreadable, and
 * symbolise. SET was opened from WHAT under OPTIONS. HISTORY selects whether histories are kept
 * (merge_keep_history). Returns 0, or the exit code after reporting the error. */
int set_merge(struct view_set *set, const char *what, const struct view_options *options,
              enum set_history history);

#endif

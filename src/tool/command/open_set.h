/* open_set.h: the profiles that the user named. */
#ifndef COMMAND_OPEN_SET_H
#define COMMAND_OPEN_SET_H

#include "option/view_opts.h"
#include "view/session.h"

/* Open WHAT (NULL: the newest *.heaptap of the current directory): one profile, or those of a
 * session that the option --only picks, largest first, each cut as --at or --between ask for.
 * Profiles are not symbolised yet. Returns 0, or the exit code after saying why; either way *RET is
 * the caller's to close. */
int set_open(const char *what, const struct view_options *options, struct view_set *ret);
void set_close(struct view_set *set);

enum set_history { SET_WITHOUT_HISTORY, SET_WITH_HISTORY };

/* If SET, which came from WHAT under OPTIONS, has or should have had several profiles, make it one
 * of the sum of those that could be read; of that it is known what was counted when if HISTORY says
 * so (merge_keep_history). Then the profiles have symbols. Returns 0, or the exit code after saying
 * why. */
int set_merge(struct view_set *set, const char *what, const struct view_options *options,
              enum set_history history);

#endif

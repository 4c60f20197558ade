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

/* 0 if SET, which came from WHAT, has one profile; otherwise say how to pick one and return
 * EXIT_USAGE. */
int set_single(const struct view_set *set, const char *what);

#endif

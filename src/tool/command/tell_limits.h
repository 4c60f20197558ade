/* tell_limits.h: what came of limits, for the user and as an exit code. */
#ifndef COMMAND_TELL_LIMITS_H
#define COMMAND_TELL_LIMITS_H

#include "analyse/judge.h"

/* Say on stderr, in a line each, which of J exceed what --OPTION allows, and which only may. They
 * are growths, unless WHO, who uses that much, is not NULL. Returns whether one is exceeded. */
bool tell_limits(const struct judgements *j, const char *option, const char *who);

/* Say that --OPTION cannot judge a profile that could not grow, or a copy that lacks the latest
 * events: what is missing may be above the limit. */
void tell_incomplete(const char *option);

/* Say that --OPTION cannot judge P, which is damaged. */
void tell_damaged(const char *option, const struct profile *p);

#endif

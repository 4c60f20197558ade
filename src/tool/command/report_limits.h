/* report_limits.h: report the result of limits to the user, and as an exit code. */
#ifndef COMMAND_REPORT_LIMITS_H
#define COMMAND_REPORT_LIMITS_H

#include "analyse/limit_check.h"

/* Print one line on stderr for each entry of J that exceeds, or may exceed, the limits of --OPTION.
 * They are growths if WHO is NULL; else WHO names the user of the memory. Returns whether one is
 * exceeded. */
bool report_limits(const struct limit_results *j, const char *option, const char *who);

/* Report that --OPTION cannot judge a profile that could not grow, or a copy that lacks the latest
 * events: the missing events may exceed the limit. */
void report_incomplete(const char *option);

/* Report that --OPTION cannot judge P because P is damaged. */
void report_damaged(const char *option, const struct profile *p);

#endif

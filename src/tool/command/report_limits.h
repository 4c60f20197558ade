/* report_limits.h: messages about exceeded limits. */
#ifndef COMMAND_REPORT_LIMITS_H
#define COMMAND_REPORT_LIMITS_H

#include "analyse/limit_check.h"

/* Print one line on stderr for each entry of J that exceeds, or may exceed, its limit of --OPTION.
 * Values are growths if WHO is NULL; else WHO is the user of the memory. Return true if a limit is
 * exceeded. */
bool report_limits(const struct limit_results *j, const char *option, const char *who);

/* Report that --OPTION cannot check a profile that could not grow, or a copy without the latest
 * events: the missing events may exceed the limit. */
void report_incomplete(const char *option);

/* Report that --OPTION cannot check P because P is damaged. */
void report_damaged(const char *option, const struct profile *p);

#endif

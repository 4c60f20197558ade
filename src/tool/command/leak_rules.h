/* leak_rules.h: suppressions and limits that users give to commands about leaks. */
#ifndef COMMAND_LEAK_RULES_H
#define COMMAND_LEAK_RULES_H

#include "analyse/leaks.h"
#include "analyse/limit_check.h"

/* Append the suppressions in the file at PATH to RET. Strings are from ARENA. Returns 0, or an exit
 * code after printing an error. */
int leak_rules_read(const char *path, struct suppressions *ret, struct arena *arena);

/* Parse TEXT, the value of --fail-over; NULL = not given. It has the syntax of diff's option.
 * Returns 0, or an exit code after printing an error. */
int leak_rules_limits(const char *text, struct limits *ret);

/* Return the Ith value that completion offers for the option NAME; for struct command. */
const char *leak_rules_offered(const char *name, size_t i);

/* Print that BYTES, about which TEXT is a clause, exceed the limit L of --fail-over. */
void leak_rules_exceeded(const struct limit *l, const char *text, int64_t bytes);

#endif

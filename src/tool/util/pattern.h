/* pattern.h: compile regular expressions from the user. */
#ifndef UTIL_PATTERN_H
#define UTIL_PATTERN_H

#include <regex.h>

#include "util/err.h"

/* Maximum number of parts in an expression after expansion of the repetitions. */
enum { PATTERN_PARTS_MAX = 4096 };

/* Compile TEXT, an extended regular expression given to --OPTION, for matching without positions.
 * The caller frees *RET. Return 0, or HEAPTAP_USAGE with ERR set if TEXT is invalid or would need
 * more than PATTERN_PARTS_MAX parts. */
int pattern_compile(regex_t *ret, const char *text, const char *option, struct err *err);

#endif

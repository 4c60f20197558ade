/* glob.h: patterns of suppression files. "*" matches any text, a leading "^" and a trailing "$"
 * anchor; without them the pattern matches anywhere in the text. Every other character matches
 * itself. */
#ifndef ANALYSE_GLOB_H
#define ANALYSE_GLOB_H

#include "base/base.h"

/* Return true if PATTERN matches TEXT; NULL is the empty text. Linear in memory and at worst
 * quadratic in time. */
bool glob_match(const char *pattern, const char *text);

#endif

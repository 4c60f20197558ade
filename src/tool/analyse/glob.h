/* glob.h: patterns as suppression files write them: "*" stands for any text, a leading "^" and a
 * trailing "$" anchor; without them the pattern may lie anywhere in the text. Everything else
 * stands for itself.
 */
#ifndef ANALYSE_GLOB_H
#define ANALYSE_GLOB_H

#include "base/base.h"

/* Whether TEXT (NULL is the empty text) has a part that PATTERN describes. Linear in memory and at
 * worst quadratic in time. */
bool glob_match(const char *pattern, const char *text);

#endif

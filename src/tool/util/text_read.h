/* text_read.h: line-based files that the user names: lists, suppressions. */
#ifndef UTIL_TEXT_READ_H
#define UTIL_TEXT_READ_H

#include <stdio.h>

#include "util/strbuf.h"

/* Read F to its end into RET, which must be empty. Return NULL, or the reason of a failure, for
 * printing after a colon. RET has a part of the text after a failure. */
const char *text_read(FILE *f, struct strbuf *ret);

#endif

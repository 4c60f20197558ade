/* text_read.h: files of lines that the user names: lists, suppressions. */
#ifndef UTIL_TEXT_READ_H
#define UTIL_TEXT_READ_H

#include <stdio.h>

#include "util/strbuf.h"

/* Read F to its end into RET, which is empty. NULL, or why it cannot be, for behind a colon; then
 * RET has some of it. */
const char *text_read(FILE *f, struct strbuf *ret);

#endif

/* write_file.h: files that commands write beside what they print. */
#ifndef CLI_WRITE_FILE_H
#define CLI_WRITE_FILE_H

#include "cli/view.h"
#include "util/strbuf.h"

/* Write OUT to PATH, replacing what is there, but never a profile of SET. Returns 0, or the exit
 * code after saying why. A file cut short by a full disk is removed. */
int write_file(const char *path, const struct strbuf *out, const struct view_set *set);

/* Whether PATH is one of SET's profiles; says so if it is. Returns as write_file does. */
int write_file_check(const char *path, const struct view_set *set);

#endif

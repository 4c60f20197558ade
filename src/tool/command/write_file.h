/* write_file.h: files that commands write beside what they print. */
#ifndef CLI_WRITE_FILE_H
#define CLI_WRITE_FILE_H

#include <stdio.h>

#include "util/strbuf.h"
#include "view/view.h"

/* A file to be: its path, and the profiles that it must not replace. The rest is write_file.c's. */
struct output_file {
    const char *path;
    const struct view_set *set;
    FILE *f;
    int error; // errno of the first failure.
    int rc;    // Why there is no file.
};

/* An empty output for O, which must stay until write_file_end, as view_output is for stdout. */
struct strbuf write_file_output(struct output_file *o);

/* Write OUT to its file, replacing what was there, but never a profile, and release it. Returns 0,
 * or the exit code after saying why. A file cut short by a full disk is removed. */
int write_file_end(struct strbuf *out);

/* Whether PATH is one of SET's profiles; says so if it is. Returns as write_file_end does. */
int write_file_check(const char *path, const struct view_set *set);

#endif

/* path.h: file names. */
#ifndef UTIL_PATH_H
#define UTIL_PATH_H

#include <stdio.h>
#include <sys/stat.h>

#include "base/base.h"
#include "util/arena.h"
#include "util/strbuf.h"

/* Return the part of PATH after the last slash. */
const char *path_basename(const char *path);

/* Return PATH as text without its empty and "." components, and without each ".." and the component
 * in front of it. That names another file if this component is a symbolic link. A path that begins
 * with ".." keeps it. Returns PATH itself, or a text from ARENA. */
const char *path_normal(const char *path, struct arena *arena);

/* A thing with a name that other things may have. It is in the file PATH; MORE distinguishes things
 * of one name in one file. */
struct path_owner {
    const char *name, *path, *more;
};

/* Return a text for each of the COUNT owners V: "" if its name is unique, else the shortest end of
 * its path, in whole components, that no other path of this name has. If several have one path,
 * MORE follows. From ARENA. */
const char **path_tails(struct arena *arena, const struct path_owner *v, size_t count);

/* --- regular.c: open files whose names come from other files. */

/* Open PATH for reading and fill in *RET_STAT. Return a descriptor, which the caller closes, or a
 * negative error number: -ENODEV if PATH is not a regular file. FIFOs, devices and sockets are
 * never opened. ROOT is a directory or NULL. With ROOT, PATH and its symbolic links are resolved as
 * in a process whose root directory is ROOT. */
int regular_open(const char *root, const char *path, struct stat *ret_stat);

/* Return true if A and B name the same file, by device and inode. */
bool regular_is_same(const char *a, const char *b);

/* Return the time of the last change to the content of ST, in nanoseconds since 1970. */
uint64_t regular_changed_unix_ns(const struct stat *st);

/* Return true if only root or our own user can have written the file of ST. */
bool regular_is_trusted(const struct stat *st);

/* --- text_read.c: line-based files that the user names: lists, suppressions. */

/* Read F to its end into RET, which must be empty. Return NULL, or the reason of a failure, for
 * printing after a colon. RET has a part of the text after a failure. */
const char *text_read(FILE *f, struct strbuf *ret);

#endif

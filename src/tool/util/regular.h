/* regular.h: open files whose names come from other files. */
#ifndef UTIL_REGULAR_H
#define UTIL_REGULAR_H

#include <sys/stat.h>

#include "base/base.h"

/* Open PATH for reading and fill in *RET_STAT. Return a descriptor, which the caller closes, or a
 * negative error number: -ENODEV if PATH is not a regular file. FIFOs, devices and sockets are
 * never opened. ROOT is a directory or NULL. With ROOT, PATH and its symbolic links are resolved as
 * in a process whose root directory is ROOT. */
int regular_open(const char *root, const char *path, struct stat *ret_stat);

/* Return true if A and B name the same file, by device and inode. */
bool regular_is_same(const char *a, const char *b);

/* Return true if only root or our own user can have written the file of ST. */
bool regular_is_trusted(const struct stat *st);

#endif

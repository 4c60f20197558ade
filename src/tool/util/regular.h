/* regular.h: open files whose names come from other files. */
#ifndef UTIL_REGULAR_H
#define UTIL_REGULAR_H

#include <sys/stat.h>

#include "base/base.h"

/* Open PATH for reading and fill in *RET_STAT. Returns a descriptor, which the caller closes, or a
 * negative error number: -ENODEV if it is no regular file. A FIFO, a device or a socket is never
 * opened, not even for an instant. With ROOT (a directory, or NULL), PATH and the symbolic links in
 * it are resolved as in a process with the root directory ROOT. */
int regular_open(const char *root, const char *path, struct stat *ret_stat);

/* Return true if both names lead to one file, by device and inode. */
bool regular_is_same(const char *a, const char *b);

/* Return true if only root or we ourselves can have written the file of ST. */
bool regular_is_trusted(const struct stat *st);

#endif

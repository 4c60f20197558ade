/* replace.h: replace a file as a whole. */
#ifndef UTIL_REPLACE_H
#define UTIL_REPLACE_H

#include <sys/types.h>

#include "base/base.h"

struct file_owner {
    uid_t uid;
    gid_t gid;
};

/* Replace PATH by a file of mode 0600 with these SIZE_BYTES, atomically: readers see the old file
 * or the new one, and a full disk or a crash leaves the old one. The new file is ours, or belongs
 * to OWNER if OWNER is not NULL and we are root. Returns false with errno set. */
bool replace_file(const char *path, const struct file_owner *owner, const void *data,
                  size_t size_bytes);

#endif

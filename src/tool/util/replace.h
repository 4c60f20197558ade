/* replace.h: replace a file atomically. */
#ifndef UTIL_REPLACE_H
#define UTIL_REPLACE_H

#include <sys/types.h>

#include "base/base.h"
#include "util/strbuf.h"

struct file_owner {
    uid_t uid;
    gid_t gid;
};

/* A new file that is being written. */
struct replacement {
    const char *path;        // Target; borrowed from the caller until the end.
    int fd;                  // Open for writing.
    // Temporary name of the file, before it becomes PATH; empty if PATH itself is written.
    struct strbuf temporary;
};

/* Begin a file of MODE, less the umask, that replaces PATH in replace_finish. Readers see the old
 * file until then, and the new one afterwards. If PATH is a symbolic link, the link itself is
 * replaced. Return false with errno set if that fails; R then needs no release. */
bool replace_begin(struct replacement *r, const char *path, mode_t mode);

/* Like replace_begin, but write PATH itself: a device, or a file that must keep its identity. A
 * symbolic link is followed. A file is emptied; a missing file is created with MODE, less the
 * umask. */
bool replace_in_place(struct replacement *r, const char *path, mode_t mode);

/* Append SIZE_BYTES at DATA to the file. Return false with errno set if that fails. */
bool replace_write(struct replacement *r, const void *data, size_t size_bytes);

/* Put the file in place and release R. Return false with errno set if that fails; the old file is
 * then unchanged, unless PATH itself was written. */
bool replace_finish(struct replacement *r);

/* Discard the new file, unless PATH itself was written, and release R. Preserves errno. */
void replace_drop(struct replacement *r);

/* Replace PATH by a file of mode 0600 with these SIZE_BYTES, atomically: readers see the old file
 * or the new one, and a full disk or a crash leaves the old one. If we are root and OWNER is not
 * NULL, the new file belongs to OWNER. Return false with errno set if that fails. */
bool replace_file(const char *path, const struct file_owner *owner, const void *data,
                  size_t size_bytes);

#endif

/* replace.h: replace a file as a whole. */
#ifndef UTIL_REPLACE_H
#define UTIL_REPLACE_H

#include <sys/types.h>

#include "base/base.h"
#include "util/strbuf.h"

struct file_owner {
    uid_t uid;
    gid_t gid;
};

/* A file that is being written. */
struct replacement {
    const char *path;        // The caller's, valid until the end.
    int fd;                  // Open for writing.
    struct strbuf temporary; // Its name until it is PATH; empty if PATH itself is written.
};

/* Begin a file of MODE, less the umask, that replaces PATH in replace_finish; a link is replaced,
 * not followed. Readers see the old file until then, and the new one afterwards. Returns false with
 * errno set, and leaves nothing to release. */
bool replace_begin(struct replacement *r, const char *path, mode_t mode);

/* The same, but write PATH itself: a device, or a file that must keep its identity. A link is
 * followed, a file emptied, and a missing one made with MODE, less the umask. */
bool replace_in_place(struct replacement *r, const char *path, mode_t mode);

/* Append to the file. Returns false with errno set. */
bool replace_write(struct replacement *r, const void *data, size_t size_bytes);

/* Put the file in place and release R. Returns false with errno set; then the old file is there,
 * unless PATH itself was written. */
bool replace_finish(struct replacement *r);

/* Drop the file, unless PATH itself was written, and release R. Keeps errno. */
void replace_drop(struct replacement *r);

/* Replace PATH by a file of mode 0600 with these SIZE_BYTES, atomically: readers see the old file
 * or the new one, and a full disk or a crash leaves the old one. The new file is ours, or belongs
 * to OWNER if OWNER is not NULL and we are root. Returns false with errno set. */
bool replace_file(const char *path, const struct file_owner *owner, const void *data,
                  size_t size_bytes);

#endif

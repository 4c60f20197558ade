/* replace.h: putting a whole file in the place of another. */
#ifndef UTIL_REPLACE_H
#define UTIL_REPLACE_H

#include "base/base.h"

/* Make PATH a file of mode 0600 with these SIZE_BYTES, in one step: whoever opens it sees the old
 * file or the new one, and a full disk or a crash leaves the old one. It is ours, or, if it
 * KEEPS_OWNER, root gives it to whom the old one belonged. False with errno set. */
bool replace_file(const char *path, bool keeps_owner, const void *data, size_t size_bytes);

#endif

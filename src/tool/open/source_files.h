/* source_files.h: read the source files that a profile names. */
#ifndef OPEN_SOURCE_FILES_H
#define OPEN_SOURCE_FILES_H

#include "util/arena.h"
#include "util/strbuf.h"

/* Read the source PATH into RET, which must be empty. Tries the ends of PATH below DIRECTORY (NULL
 * = none), the longest first, then PATH below SYSROOT (or NULL), then PATH itself. Returns false,
 * with RET empty, if none is readable. Allocates from ARENA. */
bool source_read(const char *directory, const char *sysroot, const char *path, struct arena *arena,
                 struct strbuf *ret);

#endif

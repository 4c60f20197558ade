/* source_files.h: read the source files that a profile names. */
#ifndef OPEN_SOURCE_FILES_H
#define OPEN_SOURCE_FILES_H

#include "util/arena.h"
#include "util/strbuf.h"

/* Read the source file PATH into RET, which must be empty. These places are tried: suffixes of PATH
 * below DIRECTORY (NULL = none), longest first; PATH below SYSROOT (or NULL); PATH itself. Return
 * false, with RET empty, if none is readable. Allocates from ARENA. */
bool source_read(const char *directory, const char *sysroot, const char *path, struct arena *arena,
                 struct strbuf *ret);

#endif

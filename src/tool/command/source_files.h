/* source_files.h: reading the source files that a profile names. */
#ifndef COMMAND_SOURCE_FILES_H
#define COMMAND_SOURCE_FILES_H

#include "util/arena.h"
#include "util/strbuf.h"

/* Put the text of the source PATH into RET, which is empty: the first that there is of the ends of
 * PATH, the longest first, below DIRECTORY (NULL = none was given), of PATH below SYSROOT (or
 * NULL), and of PATH itself. False, and RET empty, if it is not to be had. ARENA is for what that
 * takes. */
bool source_read(const char *directory, const char *sysroot, const char *path, struct arena *arena,
                 struct strbuf *ret);

#endif

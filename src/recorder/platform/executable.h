/* executable.h: files that a process is about to execute. */
#ifndef PLATFORM_EXECUTABLE_H
#define PLATFORM_EXECUTABLE_H

#include "base/base.h"
#include "format/unrecorded_counts.h"

/* Return why the program in the file PATH cannot be recorded, whatever its environment is;
 * UNRECORDABLE_NO if it can, or if the file cannot be read. If SEARCHES, PATH without a slash is
 * searched along PATH of the environment, as execvp does. Async-signal-safe; makes system calls. */
enum unrecordable executable_unrecordable(const char *path, bool searches);

#endif

/* overwrite.h: remove the profiles of an earlier run of the same name. */
#ifndef LAUNCH_OVERWRITE_H
#define LAUNCH_OVERWRITE_H

#include "util/arena.h"
#include "util/err.h"

/* Remove the profile OUTPUT and the profiles of the other processes of its run. Does nothing if
 * OUTPUT is NULL, a directory or a pattern. Keeps files that are not profiles, and removes nothing
 * while a process writes one of the profiles. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int overwrite_make_room(const char *output, struct arena *arena, struct err *err);

/* Return the id of the process that writes the profile PATH, or that wrote it before an exec; else
 * the id of the `heaptap run` that started that process. Return 0 if none is known to live. */
uint32_t overwrite_writer(const char *path);

/* Return a profile in DIRECTORY that would be attributed to the same run; NULL if there is none. */
const char *overwrite_profile_in(const char *directory, struct arena *arena);

#endif

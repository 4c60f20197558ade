/* overwrite.h: making room for a run's profiles where those of an earlier one are. */
#ifndef LAUNCH_OVERWRITE_H
#define LAUNCH_OVERWRITE_H

#include "util/arena.h"
#include "util/err.h"

/* Remove the profile OUTPUT and those of the other processes of its run, if OUTPUT is the name of a
 * profile: not NULL, no directory, no pattern. Remove nothing that is no profile, and nothing at
 * all while a process writes one of them. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int overwrite_make_room(const char *output, struct arena *arena, struct err *err);

/* Return the process that writes the profile PATH, or has written it before an exec, or else the
 * run that waited for it; 0 if none lives that can be seen. */
uint32_t overwrite_writer(const char *path);

/* A profile in DIRECTORY, which would be taken for one of the same run; NULL if there is none. */
const char *overwrite_profile_in(const char *directory, struct arena *arena);

#endif

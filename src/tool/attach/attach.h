/* attach.h: start and end recording in a running process. */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include "attach/attach_how.h"
#include "util/arena.h"
#include "util/err.h"

/* Start recording in process PID. Returns 0, or HEAPTAP_BAD_INPUT with ERR set and the process as
 * before. */
int attach_begin(uint32_t pid, const struct attach_how *how, struct attach_cost *ret,
                 struct err *err);

/* End recording in process PID and remove everything, also from a process that a recorded one has
 * forked. Returns 0, or HEAPTAP_BAD_INPUT with ERR set;
 * HEAPTAP_NOT_FOUND if nothing is attached. */
int attach_end(uint32_t pid, struct attach_cost *ret, struct err *err);

/* Return the path of the profile of process PID, from ARENA; NULL if no recorder is attached to
 * it. */
const char *attach_profile(uint32_t pid, struct arena *arena);

#endif

/* open_held.h: the profile that a running process has in its memory. */
#ifndef COMMAND_OPEN_HELD_H
#define COMMAND_OPEN_HELD_H

#include "profile/profile.h"

/* Load the profile in the memory of the process whose id WHAT is. Returns 0 and an owned *RET, or
 * an error with ERR set: HEAPTAP_NOT_FOUND if WHAT is no such process, so that its profile, if
 * there is one, is a file. */
int open_held(const char *what, struct profile **ret, struct err *err);

#endif

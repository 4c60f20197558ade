/* open_held.h: load the profile in the memory of a running process. */
#ifndef OPEN_OPEN_HELD_H
#define OPEN_OPEN_HELD_H

#include "profile/profile.h"

/* Load the profile in the memory of the process whose id is WHAT. Returns 0 and an owned *RET, or
 * an error with ERR set. HEAPTAP_NOT_FOUND means that WHAT is not such a process; its profile, if
 * any, is a file. */
int open_held(const char *what, struct profile **ret, struct err *err);

#endif

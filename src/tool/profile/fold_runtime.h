/* fold_runtime.h: leave the frames of interpreters out of stacks with named frames. */
#ifndef PROFILE_FOLD_RUNTIME_H
#define PROFILE_FOLD_RUNTIME_H

#include "profile/profile.h"

/* Charge the runtime's code in stacks with named frames to the frames around it. P must be
 * symbolised, and is for display, not for writing. */
void fold_runtime(struct profile *p);

#endif

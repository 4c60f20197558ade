/* fold_runtime.h: remove an interpreter's frames from stacks with named frames. */
#ifndef PROFILE_FOLD_RUNTIME_H
#define PROFILE_FOLD_RUNTIME_H

#include "profile/profile.h"

/* Charge the runtime's code in stacks with named frames to the frames around it. P must be
 * symbolised. Afterwards P is for display only and must not be written to a file. */
void fold_runtime(struct profile *p);

#endif

/* run_places.h: final names of profiles after a run. */
#ifndef LAUNCH_RUN_PLACES_H
#define LAUNCH_RUN_PLACES_H

#include "launch/run.h"

/* Give the profile of process HEAD, one of the COUNT at V, the requested name. Move all others into
 * the directory beside it, which is stored in PROFILES->directory. A profile that cannot be moved,
 * or is still being written, stays in place. Updates the paths in V. */
void run_places_arrange(struct recorded_run *r, struct run_profiles *profiles,
                        struct run_process *v, size_t count, size_t head);

#endif

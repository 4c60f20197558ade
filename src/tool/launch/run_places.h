/* run_places.h: the names of the profiles when a run has ended. */
#ifndef LAUNCH_RUN_PLACES_H
#define LAUNCH_RUN_PLACES_H

#include "launch/run.h"
#include "launch/run_process.h"

/* Give the profile of process HEAD, of the COUNT of V, the name that the user wanted, and put all
 * others into the directory beside it, which goes to PROFILES->directory. What cannot be moved, or
 * is still being written, stays where it is; the paths in V are where profiles are then. */
void run_places_arrange(struct recorded_run *r, struct run_profiles *profiles,
                        struct run_process *v, size_t count, size_t head);

#endif

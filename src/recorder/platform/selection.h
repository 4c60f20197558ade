/* selection.h: decides if this process is recorded, and the path of its profile. Call these
 * functions from the thread that starts recording, with signals blocked. */
#ifndef PLATFORM_SELECTION_H
#define PLATFORM_SELECTION_H

#include "base/base.h"

/* Return true if this process shall be recorded. Call once, when recording starts; requires
 * `state`. */
bool selection_here(void);

/* Return true if forked children of a recorded process shall be recorded. Call after selection_here
 * in that process. Async-signal-safe. */
bool selection_has_children(void);

/* Return the pattern of the profile's path, NULL if none was given; and the id of the run. Call
 * after selection_here. */
const char *selection_output(void);
uint64_t selection_session(void);

/* Return the number of innermost frames to record per stack. Call after selection_here. */
uint32_t selection_depth(void);

/* Create the directory of the profile PATH, if `heaptap run` left that to the recorder. Return true
 * if the directory then exists, so that the caller should try again to create the profile. */
bool selection_make_directory(char *path);

#endif

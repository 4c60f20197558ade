/* selection.h: whether this process is recorded, and the path of its profile. Call from the thread
 * that starts recording, with signals blocked. */
#ifndef PLATFORM_SELECTION_H
#define PLATFORM_SELECTION_H

#include "base/base.h"

/* Return true if this process is recorded. Call once, when recording starts; requires `state`. */
bool selection_here(void);

/* Return true if forked children of a recorded process are recorded. Call after selection_here in
 * that process. Async-signal-safe. */
bool selection_has_children(void);

/* Return the pattern of the profile's path, NULL if none was given; and the run's id. Call after
 * selection_here. */
const char *selection_output(void);
uint64_t selection_session(void);

/* Return how many innermost frames of a stack are kept. Call after selection_here. */
uint32_t selection_depth(void);

/* Create the directory of the profile PATH, if `heaptap run` leaves that to the recorder. Return
 * true if it exists then, so that creating the profile can be tried again. */
bool selection_make_directory(char *path);

#endif

/* selection.h: is this process one that the user asked for, and where does its profile go? Asked by
 * the thread that starts recording, whose signals are blocked. */
#ifndef PLATFORM_SELECTION_H
#define PLATFORM_SELECTION_H

#include "base/base.h"

/* Is this process to be recorded? Asked once, when it starts recording; state exists. */
bool selection_here(void);

/* Are forked children of a recorded process recorded? After selection_here in that process. Safe in
 * a signal handler. */
bool selection_has_children(void);

/* The pattern of the profile's path, and the run's id; after selection_here. The pattern is NULL
 * when nobody gave one. */
const char *selection_output(void);
uint64_t selection_session(void);

/* How many frames of a stack are kept, from the innermost on; after selection_here. */
uint32_t selection_depth(void);

/* Make the directory of the profile PATH, if it is one that `heaptap run` leaves to us. True if it
 * is made, so that creating the profile can be tried again. */
bool selection_make_directory(char *path);

#endif

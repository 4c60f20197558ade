/* wanted.h: is this process one that the user asked for, and where does its profile go? */
#ifndef MONITOR_WANTED_H
#define MONITOR_WANTED_H

#include "base/base.h"

/* Is this process to be recorded? Asked once, when it starts recording; state exists. */
bool wanted_here(void);

/* The pattern of the profile's path, and the run's id; after wanted_here. The pattern is NULL when
 * nobody gave one. */
const char *wanted_output(void);
uint64_t wanted_session(void);

/* How many frames of a stack are kept, from the innermost on; after wanted_here. */
uint32_t wanted_depth(void);

/* Make the directory of the profile PATH, if it is one that `heaptap run` leaves to us. True if it
 * is made, so that creating the profile can be tried again. */
bool wanted_make_directory(char *path);

#endif

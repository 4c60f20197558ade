/* dormant.h: whether this copy of the recorder is active in this process. */
#ifndef PLATFORM_DORMANT_H
#define PLATFORM_DORMANT_H

#include "base/base.h"

/* The note of a linked recorder in an executable. A tool or a second recorder finds it in the file
 * or in the running program, even after strip. Type 1 of the same owner belongs to heaptap.h. */
#define DORMANT_NOTE_OWNER "heaptap"
enum { DORMANT_NOTE_TYPE = 2 };

/* Return true if the recorder must never act in this process. The answer never changes in a process
 * image and its forked children. */
bool dormant_here(void);

/* Return true if recording must begin before the first event, so that two threads never have the
 * first event at once. A preloaded recorder need not: events of the dynamic linker or of thread
 * creation come first. */
bool dormant_starts_early(void);

#endif

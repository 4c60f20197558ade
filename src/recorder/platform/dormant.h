/* dormant.h: decides if this copy of the recorder is active in this process. */
#ifndef PLATFORM_DORMANT_H
#define PLATFORM_DORMANT_H

#include "base/base.h"

/* Owner and type of the note with which a linked recorder marks an executable. A tool or a second
 * recorder finds it in the file or in the running program, even after strip. Type 1 of the same
 * owner belongs to heaptap.h. */
#define DORMANT_NOTE_OWNER "heaptap"
enum { DORMANT_NOTE_TYPE = 2 };

/* Return true if the recorder must stay inactive. The result is constant in a process image and its
 * forked children. */
bool dormant_here(void);

/* Return true if recording must begin before the first event, because two threads could have their
 * first events concurrently. For a preloaded recorder this is impossible: events of the dynamic
 * linker or of thread creation come first. */
bool dormant_starts_early(void);

#endif

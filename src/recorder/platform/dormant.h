/* dormant.h: whether this copy of the recorder has anything to do in this process. */
#ifndef PLATFORM_DORMANT_H
#define PLATFORM_DORMANT_H

#include "base/base.h"

/* The note of a linked recorder in an executable, by which one who looks at the file or the running
 * program finds it even after strip. Type 1 of that owner is heaptap.h's. */
#define DORMANT_NOTE_OWNER "heaptap"
enum { DORMANT_NOTE_TYPE = 2 };

/* Is this process none of our business, whatever it forks or does? The answer never changes in a
 * process image and its forked children. */
bool dormant_here(void);

/* Is recording to begin before the first event? Preloaded, the dynamic linker's own events or those
 * of starting a thread come first, so that no two threads have the first one at once. */
bool dormant_starts_early(void);

#endif

/* load_fit.h: reject models that are too large for the size of their file. */
#ifndef LOAD_LOAD_FIT_H
#define LOAD_LOAD_FIT_H

#include "load/loader.h"

/* Return true if a file of this size can hold the stacks of all sites and their packed frames.
 * Shortens long names, with a note, if views would write more text of them than that. Call last. */
bool loader_fit(struct loader *l);

#endif

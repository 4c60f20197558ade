/* load_fit.h: reject models that are too large for the size of their file. */
#ifndef LOAD_LOAD_FIT_H
#define LOAD_LOAD_FIT_H

#include "load/loader.h"

/* Return true if the stacks of all sites, and the packed frames, are plausible for a file of this
 * size. Shorten long names, with a note, if views would write too much text. Call last. */
bool loader_fit(struct loader *l);

#endif

/* load_fit.h: whether a file of this size can have such a model. */
#ifndef LOAD_LOAD_FIT_H
#define LOAD_LOAD_FIT_H

#include "load/loader.h"

/* Whether the stacks of all sites, with the frames that came with the file, are no more than a file
 * of this size can have. Shortens long names, with a note, if all that views write of them would be
 * more than that. After all else. */
bool loader_fit(struct loader *l);

#endif

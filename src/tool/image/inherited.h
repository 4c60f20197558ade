/* inherited.h: the blocks that a forked child has inherited from its parent. */
#ifndef IMAGE_INHERITED_H
#define IMAGE_INHERITED_H

#include "image/examined.h"

/* The frame that represents the unknown stacks of inherited blocks. */
#define INHERITED_FRAME "[allocated before the fork]"

/* Add to E the blocks that it inherited, if the process was forked. They get one site, which is
 * added to the profile. Requires E's blocks and profile to be read. */
void inherited_read(struct examined *e);

#endif

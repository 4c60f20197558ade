/* inherited.h: blocks that a forked child has inherited from its parent. */
#ifndef IMAGE_INHERITED_H
#define IMAGE_INHERITED_H

#include "image/examined.h"

/* Frame that represents the unknown stacks of inherited blocks. */
#define INHERITED_FRAME "[allocated before the fork]"

/* Add the blocks that E inherited, if its process was forked, to E. They get one site, which is
 * added to the profile. Requires that E's blocks and profile were read. */
void inherited_read(struct examined *e);

#endif

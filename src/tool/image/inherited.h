/* inherited.h: the blocks that a forked child has from its parent. */
#ifndef IMAGE_INHERITED_H
#define IMAGE_INHERITED_H

#include "image/examined.h"

/* What stands for the stack of an inherited block. */
#define INHERITED_FRAME "[allocated before the fork]"

/* Add to E, whose blocks and profile have been read, the blocks that it inherited; does nothing
 * unless the process was forked. They are of one site, which is added to the profile. */
void inherited_read(struct examined *e);

#endif

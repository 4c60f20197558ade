/* annotated_stacks.h: stacks stored in annotated blocks, for a dump whose profile is gone. */
#ifndef IMAGE_ANNOTATED_STACKS_H
#define IMAGE_ANNOTATED_STACKS_H

#include "image/examined.h"

/* Fill E->raw with the stacks in E's annotated blocks and set the site of each block in E->blocks,
 * which must have been read. Append annotated blocks that the ledger does not list: a forked child
 * has them from its parent. *RET_FRAMES is the maximum number of frames in a block. Requires
 * E->memory to be a dump. Returns 0, HEAPTAP_NOT_FOUND if no block is annotated, or another error
 * with ERR set. */
int annotated_stacks_read(struct examined *e, uint32_t *ret_frames, struct err *err);

#endif

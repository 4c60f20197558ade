/* block_sizes.h: sizes of blocks whose sizes only their allocator stores. */
#ifndef IMAGE_BLOCK_SIZES_H
#define IMAGE_BLOCK_SIZES_H

#include "image/blocks.h"
#include "profile/raw.h"

/* Infer the sizes of B's blocks that are BLOCK_UNSIZED from RAW, the profile of M's process.
 * Inexact ones become BLOCK_GUESSED. SAME_MOMENT: RAW counts exactly the blocks that were live when
 * M was read. Blocks of a site without counters in RAW stay BLOCK_UNSIZED. */
void block_sizes_infer(const struct memory *m, const struct raw_file *raw, bool same_moment,
                       struct blocks *b);

#endif

/* block_sizes.h: sizes of blocks that only their allocator knows. */
#ifndef IMAGE_BLOCK_SIZES_H
#define IMAGE_BLOCK_SIZES_H

#include "image/blocks.h"
#include "profile/raw.h"

/* Infer the sizes of B's blocks that are BLOCK_UNSIZED from RAW, the profile of M's process; those
 * that are not exact become BLOCK_GUESSED. SAME_MOMENT: RAW counts exactly what lived when M was
 * read. Blocks of a site that RAW does not count stay BLOCK_UNSIZED. */
void block_sizes_infer(const struct memory *m, const struct raw_file *raw, bool same_moment,
                       struct blocks *b);

#endif

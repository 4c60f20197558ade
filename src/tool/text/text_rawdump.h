/* text_rawdump.h: blocks found in copies of memory, as text. */
#ifndef TEXT_TEXT_RAWDUMP_H
#define TEXT_TEXT_RAWDUMP_H

#include "text/text_view.h"
#include "view/annotated_view.h"

/* Write the whole view: memory read, rejected candidates, blocks by stack, corruptions. */
void text_rawdump(struct text_view *v, const struct annotated_view *found);

/* Return a line about the sizes and allocation times of the blocks of S, one of V's stacks. */
const char *text_rawdump_sizes(const void *found, const struct view *v, const struct stack *s);

#endif

/* text_classes.h: shares by size class, as bars of letters. */
#ifndef TEXT_TEXT_CLASSES_H
#define TEXT_TEXT_CLASSES_H

#include "analyse/stack_functions.h"
#include "text/text_view.h"

/* Return a bar of at most WIDTH letters for PART of WHOLE, one letter for each share of a size
 * class: "ssmmmx". From ARENA. */
const char *text_classes(struct arena *arena, const struct amount *part, int64_t whole,
                         size_t width);

/* Write the meaning of the letters on a separate line. */
void text_classes_legend(struct text_view *v);

#endif

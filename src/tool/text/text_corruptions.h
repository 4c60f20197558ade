/* text_corruptions.h: corrupted blocks that were found while the program ran, as text. */
#ifndef TEXT_TEXT_CORRUPTIONS_H
#define TEXT_TEXT_CORRUPTIONS_H

#include "text/text_view.h"

/* Write the section of corrupted blocks, if there are any. */
void text_corruptions(struct text_view *v);

#endif

/* text_corruptions.h: blocks that were found damaged while the program ran, as text. */
#ifndef TEXT_TEXT_CORRUPTIONS_H
#define TEXT_TEXT_CORRUPTIONS_H

#include "text/text_view.h"

/* Write the section of damaged blocks, if there are any. */
void text_corruptions(struct text_view *v);

#endif

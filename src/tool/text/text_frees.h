/* text_frees.h: frees that ended no live block, as text. */
#ifndef TEXT_TEXT_FREES_H
#define TEXT_TEXT_FREES_H

#include "text/text_view.h"

/* Write the frees without a live block, by stack; nothing if there are none. */
void text_unknown_frees(struct text_view *v);

#endif

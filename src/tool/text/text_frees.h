/* text_frees.h: frees that ended no live block, as text. */
#ifndef TEXT_TEXT_FREES_H
#define TEXT_TEXT_FREES_H

#include "text/text_view.h"

/* Frees that ended no live block, by stack; adds nothing at all when there are none. */
void text_unknown_frees(struct text_view *v);

#endif

/* text_header.h: what stands above a view. */
#ifndef TEXT_TEXT_HEADER_H
#define TEXT_TEXT_HEADER_H

#include "text/text_view.h"

/* The process, what part of it is shown, its totals, and how it was recorded. */
void text_header(struct text_view *v);

#endif

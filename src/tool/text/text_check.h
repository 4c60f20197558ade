/* text_check.h: damaged blocks as text. */
#ifndef TEXT_TEXT_CHECK_H
#define TEXT_TEXT_CHECK_H

#include "text/text_view.h"
#include "view/memory_view.h"

/* Write results of a check of M's memory. */
void text_check(struct text_view *v, const struct memory_view *m);

#endif

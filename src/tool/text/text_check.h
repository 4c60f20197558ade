/* text_check.h: damaged blocks as text. */
#ifndef TEXT_TEXT_CHECK_H
#define TEXT_TEXT_CHECK_H

#include "text/text_view.h"
#include "view/memory_view.h"

/* What was found by a check of the memory of M. */
void text_check(struct text_view *v, const struct memory_view *m);

#endif

/* text_check.h: corrupted blocks, as text. */
#ifndef TEXT_TEXT_CHECK_H
#define TEXT_TEXT_CHECK_H

#include "text/text_view.h"
#include "view/memory_view.h"

/* Write the results of a check of M's memory. */
void text_check(struct text_view *v, const struct memory_view *m);

#endif

/* text_diff.h: a comparison as text. */
#ifndef TEXT_TEXT_DIFF_H
#define TEXT_TEXT_DIFF_H

#include "view/diff_view.h"
#include "view/style.h"

/* Append the comparison D to OUT, with at most DEPTH frames of each stack. */
void text_diff(const struct diff_view *d, const struct style *style, size_t depth,
               struct strbuf *out);

#endif

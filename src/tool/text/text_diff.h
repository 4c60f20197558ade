/* text_diff.h: a comparison for people. */
#ifndef TEXT_TEXT_DIFF_H
#define TEXT_TEXT_DIFF_H

#include "view/diff_view.h"
#include "view/style.h"

/* D with at most DEPTH frames of a stack. */
void text_diff(const struct diff_view *d, const struct style *style, size_t depth,
               struct strbuf *out);

#endif

/* text_size_totals.h: the allocation bins of a profile, as text. */
#ifndef TEXT_TEXT_SIZE_TOTALS_H
#define TEXT_TEXT_SIZE_TOTALS_H

#include "text/text_view.h"

/* Write a histogram and the TOP bins with most bytes, largest first. If there are at most TOP bins,
 * write all by size. */
void text_size_totals(struct text_view *v, size_t top);

/* Write the table in mprof's layout: all bins by size, with whole percentages. */
void classic_size_totals(struct text_view *v);

/* Write Lisp objects by class and type. */
void text_lisp_size_totals(struct text_view *v);

#endif

/* text_size_totals.h: the allocation bins of a profile, for people. */
#ifndef TEXT_TEXT_SIZE_TOTALS_H
#define TEXT_TEXT_SIZE_TOTALS_H

#include "text/text_view.h"

/* Write a histogram and the TOP bins with most bytes, largest first. If there are no more than TOP,
 * write all in order of size. */
void text_size_totals(struct text_view *v, size_t top);

/* Write the table as mprof printed it: all bins by size, whole percentages, nothing else. */
void classic_size_totals(struct text_view *v);

/* Lisp objects by class and type. */
void text_lisp_size_totals(struct text_view *v);

#endif

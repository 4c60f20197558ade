/* text_function_totals.h: the memory that each function allocates itself, as text. */
#ifndef TEXT_TEXT_FUNCTION_TOTALS_H
#define TEXT_TEXT_FUNCTION_TOTALS_H

#include "analyse/function_totals.h"
#include "text/text_view.h"

/* Write a line for each function of D, up to the view's limit, with METRIC and live bytes. */
void text_function_totals(struct text_view *v, const struct functions *f,
                          const struct function_totals *d, enum metric metric);

/* Write them in the layout of the paper on mprof (1988). */
void classic_function_totals(struct text_view *v, const struct functions *f,
                             const struct function_totals *d);

#endif

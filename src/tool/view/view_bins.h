/* view_bins.h: the allocation bins of a profile, for people and as JSON. */
#ifndef CLI_VIEW_BINS_H
#define CLI_VIEW_BINS_H

#include "analyse/bins.h"
#include "util/json_out.h"
#include "view/view_text.h"

/* A histogram and the TOP bins with most bytes, largest first; all in the order of size if there
 * are no more than that. */
void text_bins(struct text_view *v, size_t top);

/* The table as mprof printed it: all bins by size, whole percentages, nothing else. */
void text_bins_classic(struct text_view *v);

/* One document "heaptap-bins", its bins chosen and sorted as in text. */
void json_bins(struct json *j, const struct text_view *v, size_t top);

#endif

/* backing.h: blocks that back the program's own heaps. */
#ifndef VIEW_BACKING_H
#define VIEW_BACKING_H

#include "view/view.h"

/* Return the backings of the heaps in PICKS, most live bytes first. From the view's arena. */
const struct profile_backing **backing_sorted(const struct view *v, const struct tag_picks *picks,
                                              size_t *ret_count);

/* Return the share of HEAP's backing that its objects occupy, by METRIC: "62 % of 4.0 MiB". Return
 * "" if no backing is known, or if V shows only a part of the heap. */
const char *backing_fullness(const struct view *v, const struct profile_heap *heap,
                             enum metric metric);

#endif

/* backing.h: the blocks that heaps of the program's own are made from. */
#ifndef VIEW_BACKING_H
#define VIEW_BACKING_H

#include "view/view.h"

/* What backs the heaps that PICKS has; most live bytes first. From the view's arena. */
const struct profile_backing **backing_sorted(const struct view *v, const struct tag_picks *picks,
                                              size_t *ret_count);

/* How full HEAP is by METRIC, "62 % of 4.0 MiB"; "" if nothing is known to back it, or if V shows
 * only a part of it. */
const char *backing_fullness(const struct view *v, const struct profile_heap *heap,
                             enum metric metric);

#endif

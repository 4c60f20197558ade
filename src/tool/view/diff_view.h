/* diff_view.h: contents of a comparison, for display. */
#ifndef VIEW_DIFF_VIEW_H
#define VIEW_DIFF_VIEW_H

#include "analyse/limit_check.h"

struct diff_view {
    const struct profile *before, *after;
    const struct diff *diff;
    enum diff_by by;
    enum metric metric;
    struct arena *arena;
    size_t limit; // Maximum number of rows.
    const struct limit_results *judged; // Results of limits; NULL = no limits.
};

#endif

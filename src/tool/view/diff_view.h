/* diff_view.h: displayed contents of a comparison. */
#ifndef VIEW_DIFF_VIEW_H
#define VIEW_DIFF_VIEW_H

#include "analyse/limit_check.h"

struct diff_view {
    const struct profile *before, *after;
    const struct diff *diff;
    enum diff_by by;
    enum metric metric;
    struct arena *arena;
    size_t limit; // Rows shown at most.
    const struct limit_results *judged; // Results of limits; NULL = there are none.
};

#endif

/* view.h: what is shown of a profile, however it is written down. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "analyse/stacks.h"

struct view {
    const struct profile *p;
    const struct stacks *stacks;
    const char *filter;     // As given, or NULL.
    struct tag_filter tags; // Likewise.
    const char *label;      // Of tables by the values of one label.
    struct arena *arena;    // For what is made to be shown.
    size_t limit;           // Rows or sites shown; 0 = the default of what shows them.
};

#endif

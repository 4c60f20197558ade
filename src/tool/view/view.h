/* view.h: displayed contents of a profile, independent of the output format. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "analyse/stacks.h"

struct json_tables;
struct view;

/* Facts from the command that are not in the profile. */
struct view_extra {
    const void *arg;
    // Returns a line about S, one of the view's stacks, from its arena; NULL = none.
    const char *(*about)(const void *arg, const struct view *v, const struct stack *s);
    // Members for the object of the report in JSON, which is open.
    void (*members)(const void *arg, const struct view *v, struct json_tables *t);
};

struct view {
    const struct profile *p;
    const struct stacks *stacks;
    const char *filter;     // As given, or NULL.
    struct tag_filter tags; // Likewise.
    const char *label;      // For tables by the values of one label.
    const struct examined *memory; // Memory that P was read from (image/examined.h); NULL =
                                   // P is from a file.
    struct arena *arena;    // Backs data made for display.
    size_t limit;           // Rows or sites shown; 0 = the view's default.
    const struct view_extra *extra; // NULL = nothing.
};

#endif

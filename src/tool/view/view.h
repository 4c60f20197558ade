/* view.h: contents of a profile for display, independent of the output format. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "analyse/stacks.h"

struct json_tables;
struct view;

/* Facts from the command that the profile lacks. */
struct view_extra {
    const void *arg;
    // Return a line about S, one of the view's stacks, from the view's arena; NULL = none.
    const char *(*about)(const void *arg, const struct view *v, const struct stack *s);
    // Add members to the open object of the report in JSON.
    void (*members)(const void *arg, const struct view *v, struct json_tables *t);
};

struct view {
    const struct profile *p;
    const struct stacks *stacks;
    const char *filter;     // Text of the filter, or NULL.
    struct tag_filter tags; // As given, or empty.
    const char *label;      // Key of the label, for tables by the values of one label.
    const struct examined *memory; // Memory that P was read from (image/examined.h); NULL if P is
                                   // from a file.
    struct arena *arena;    // Memory for data made for display.
    size_t limit;           // Maximum number of rows or sites; 0 = the view's default.
    const struct view_extra *extra; // NULL = none.
};

#endif

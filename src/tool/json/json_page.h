/* json_page.h: all data of a profile's page, as JSON. */
#ifndef JSON_JSON_PAGE_H
#define JSON_JSON_PAGE_H

#include "util/json_out.h"
#include "view/view.h"

struct json_page {
    const struct view *view;   // Its stacks are as recorded, with numbers.
    const struct view *before; // The first of two profiles, or NULL.
    enum metric metric;        // Metric to show first.
    const struct stacks_options *options; // Filter of the views.
    // Return the text of the source FILE, a path as in frames, or NULL if it cannot be read. Valid
    // until the next call. Called for the files of the largest stacks first. If the pointer is
    // NULL, sources are omitted.
    const char *(*source)(void *arg, const char *file);
    void *source_arg;
};

/* Write one document "heaptap-page". */
void json_page(struct json *j, const struct json_page *page);

#endif

/* json_page.h: all data of a profile's page, as JSON. */
#ifndef JSON_JSON_PAGE_H
#define JSON_JSON_PAGE_H

#include "util/json_out.h"
#include "view/view.h"

struct json_page {
    const struct view *view;   // Stacks as recorded, numbered.
    const struct view *before; // The first of two profiles, or NULL.
    enum metric metric;        // First view to show.
    const struct stacks_options *options; // Filter of the views.
    // Returns the text of the source FILE, a path as in frames, or NULL if it cannot be read; valid
    // until the next call. Called for the files of the largest stacks first. NULL: omit sources.
    const char *(*source)(void *arg, const char *file);
    void *source_arg;
};

/* Write one document "heaptap-page". */
void json_page(struct json *j, const struct json_page *page);

#endif

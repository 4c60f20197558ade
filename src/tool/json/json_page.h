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
    // The text of the source FILE, as frames have it, or NULL if it is not to be had; valid until
    // the next call. Asked for the files of the largest stacks first. NULL: sources are not wanted.
    const char *(*source)(void *arg, const char *file);
    void *source_arg;
};

/* One document "heaptap-page". */
void json_page(struct json *j, const struct json_page *page);

#endif

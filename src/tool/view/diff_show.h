/* diff_show.h: the two renderings of a comparison. They write into a buffer and print nothing. */
#ifndef CLI_DIFF_SHOW_H
#define CLI_DIFF_SHOW_H

#include "analyse/diff.h"
#include "report/style.h"
#include "util/json_out.h"

struct diff_view {
    const struct profile *before, *after;
    const struct diff *diff;
    enum diff_by by;
    enum metric metric;
    struct style style;
    struct arena *arena;
    struct strbuf *out;
    size_t limit; // Rows shown at most.
    size_t depth; // Frames shown of a stack, in text.
};

void diff_text(struct diff_view *v);

/* One document "heaptap-diff". */
void diff_json(struct diff_view *v);

#endif

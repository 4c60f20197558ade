/* view_timeline.h: what stacks held over time, for a terminal and as JSON (docs/json.md). */
#ifndef CLI_VIEW_TIMELINE_H
#define CLI_VIEW_TIMELINE_H

#include "analyse/timeline.h"
#include "util/json_out.h"
#include "view/view_text.h"

/* The total as a chart, with the peak and named snapshots, and a line with a sparkline for each
 * row. */
void text_timeline(struct text_view *v, const struct timeline *t);

/* One document "heaptap-timeline". */
void json_timeline_view(struct json *j, const struct text_view *v, const struct timeline *t);

/* "live", "allocated", "calls". */
extern const char *const timeline_by_names[];

#endif

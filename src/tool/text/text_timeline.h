/* text_timeline.h: live memory of stacks over time, for a terminal. */
#ifndef TEXT_TEXT_TIMELINE_H
#define TEXT_TEXT_TIMELINE_H

#include "analyse/timeline.h"
#include "text/text_view.h"

/* Write the total as a chart, with the peak and named snapshots, and a line with a sparkline for
 * each row. */
void text_timeline(struct text_view *v, const struct timeline *t);

#endif

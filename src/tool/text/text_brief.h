/* text_brief.h: the first screen of a report. */
#ifndef TEXT_TEXT_BRIEF_H
#define TEXT_TEXT_BRIEF_H

#include "text/text_view.h"

/* Write a summary of a profile in about 25 lines: totals, the one or two most informative metrics
 * with their functions, growing stacks, losses, further commands. The view's limit is the number of
 * functions per metric. */
void text_brief(struct text_view *v);

#endif

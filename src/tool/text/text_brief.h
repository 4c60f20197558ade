/* text_brief.h: the first screen of a report. */
#ifndef TEXT_TEXT_BRIEF_H
#define TEXT_TEXT_BRIEF_H

#include "text/text_view.h"

/* What matters most of the profile, in about 25 lines: totals, the one or two metrics that say most
 * about this run with the functions behind them, what still grows, what was lost, what to ask next.
 * The view's limit is how many functions a metric has. */
void text_brief(struct text_view *v);

#endif

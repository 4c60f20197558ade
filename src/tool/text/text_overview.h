/* text_overview.h: the full report as text. */
#ifndef TEXT_TEXT_OVERVIEW_H
#define TEXT_TEXT_OVERVIEW_H

#include "text/text_view.h"

/* Write the header, the totals, the recorder's losses and cost, and the sections. */
void text_overview(struct text_view *v);

#endif

/* text_overview.h: the default report as text. */
#ifndef TEXT_TEXT_OVERVIEW_H
#define TEXT_TEXT_OVERVIEW_H

#include "text/text_view.h"

/* Header, totals, the recorder's account of itself, and the sections. */
void text_overview(struct text_view *v);

#endif

/* text_site.h: sites as text. */
#ifndef TEXT_TEXT_SITE_H
#define TEXT_TEXT_SITE_H

#include "text/text_view.h"

/* S with its METRIC and, unless it was shown before, its stack. */
void text_site(struct text_view *v, const struct stack *s, enum metric metric);

/* The first sites by METRIC: at most LIMIT, each with at least PERCENT_MIN of the total, and at
 * least one. Without any site, not even the title. */
void text_section(struct text_view *v, enum metric metric, size_t limit, double percent_min);

/* The top sites by METRIC, with stacks; says so if there is none. */
void text_sites(struct text_view *v, enum metric metric);

#endif

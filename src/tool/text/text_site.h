/* text_site.h: sites as text. */
#ifndef TEXT_TEXT_SITE_H
#define TEXT_TEXT_SITE_H

#include "text/text_view.h"

/* Write site S with its METRIC, and its stack unless that was shown before. */
void text_site(struct text_view *v, const struct stack *s, enum metric metric);

/* Write a title and the top sites by METRIC: at least one, at most LIMIT. All but the first have at
 * least PERCENT_MIN of the total. Write nothing if there is no site. */
void text_section(struct text_view *v, enum metric metric, size_t limit, double percent_min);

/* Write the top sites by METRIC with their stacks, or a line saying that there are none. */
void text_sites(struct text_view *v, enum metric metric);

#endif

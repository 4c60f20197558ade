/* text_leaks.h: live blocks, as text. */
#ifndef TEXT_TEXT_LEAKS_H
#define TEXT_TEXT_LEAKS_H

#include "analyse/leaks.h"
#include "text/text_view.h"

/* Write the sites with live blocks, up to the view's limit, and what SUPPRESSIONS have hidden. */
void text_leaks(struct text_view *v, const struct leaks *leaks,
                const struct suppressions *suppressions);

/* Write lines above the live blocks, in COUNT of NOUN; and the bytes hidden by suppressions. */
void text_leaks_head(struct text_view *v, const struct leaks *leaks, size_t count,
                     const char *noun);
void text_suppressions(struct text_view *v, const struct leaks *leaks,
                       const struct suppressions *suppressions);

#endif

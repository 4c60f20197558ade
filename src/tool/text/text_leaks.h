/* text_leaks.h: live blocks, as text. */
#ifndef TEXT_TEXT_LEAKS_H
#define TEXT_TEXT_LEAKS_H

#include "analyse/leaks.h"
#include "text/text_view.h"

/* Write the sites with live blocks, up to the view's limit, and the bytes that SUPPRESSIONS
 * hide. */
void text_leaks(struct text_view *v, const struct leaks *leaks,
                const struct suppressions *suppressions);

/* Write the lines above the live blocks, in COUNT of NOUN; and the bytes that suppressions hide. */
void text_leaks_head(struct text_view *v, const struct leaks *leaks, size_t count,
                     const char *noun);
void text_suppressions(struct text_view *v, const struct leaks *leaks,
                       const struct suppressions *suppressions);

#endif

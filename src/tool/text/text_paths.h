/* text_paths.h: live blocks by partial path, as text. */
#ifndef TEXT_TEXT_PATHS_H
#define TEXT_TEXT_PATHS_H

#include "text/text_view.h"
#include "view/leak_paths.h"

/* Write a line for each path, up to the view's limit, and the bytes that suppressions hide. */
void text_paths(struct text_view *v, const struct leak_paths *l);

/* Write them in the layout of the paper on mprof (1988). */
void classic_paths(struct text_view *v, const struct leak_paths *l);

#endif

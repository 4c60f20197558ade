/* text_access.h: the use of blocks, as text. */
#ifndef TEXT_TEXT_ACCESS_H
#define TEXT_TEXT_ACCESS_H

#include "analyse/access_sites.h"
#include "text/text_view.h"

/* The accesses T of the view's profile: the rows that PICK means, or, of ACCESS_PICK_ALL, the hot,
 * the cold and the unread ones, the first few of each. */
void text_access(struct text_view *v, const struct access_table *t, enum access_pick pick);

#endif

/* text_access.h: the use of blocks, as text. */
#ifndef TEXT_TEXT_ACCESS_H
#define TEXT_TEXT_ACCESS_H

#include "analyse/access_sites.h"
#include "text/text_view.h"

/* Write the accesses T of the view's profile: the rows that PICK selects. ACCESS_PICK_ALL selects
 * the first few hot, cold and unread rows. */
void text_access(struct text_view *v, const struct access_table *t, enum access_pick pick);

#endif

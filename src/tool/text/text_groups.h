/* text_groups.h: groupings as text. */
#ifndef TEXT_TEXT_GROUPS_H
#define TEXT_TEXT_GROUPS_H

#include "analyse/group.h"
#include "text/text_view.h"

/* Write a table of the groups by BY, sorted by METRIC, up to the view's limit. */
void text_groups(struct text_view *v, enum group_by by, enum metric metric);

#endif

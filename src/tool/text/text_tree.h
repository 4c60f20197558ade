/* text_tree.h: the tree of functions as text. */
#ifndef TEXT_TEXT_TREE_H
#define TEXT_TEXT_TREE_H

#include "analyse/tree.h"
#include "text/text_view.h"

/* Write the functions as a tree in DIRECTION, with METRIC of each. */
void text_tree(struct text_view *v, enum tree_direction direction, enum metric metric);

#endif

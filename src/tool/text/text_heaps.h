/* text_heaps.h: heaps of the program and labels, as text. */
#ifndef TEXT_TEXT_HEAPS_H
#define TEXT_TEXT_HEAPS_H

#include "text/text_view.h"

/* Write the program's heaps and labels, at most LIMIT of each; nothing if there are none. */
void text_heaps(struct text_view *v, size_t limit);
void text_labels(struct text_view *v, size_t limit);

/* Write the stacks of the blocks that back the heap of --heap, at most LIMIT. */
void text_backings(struct text_view *v, size_t limit);

/* Write a line about the bytes outside of the bins, if the program has heaps. */
void text_not_in_size_totals(struct text_view *v);

#endif

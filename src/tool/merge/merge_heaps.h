/* merge_heaps.h: merge heaps, sets of labels, and the backing of heaps. */
#ifndef MERGE_MERGE_HEAPS_H
#define MERGE_MERGE_HEAPS_H

#include "merge/merger.h"

/* Initialise the sum with malloc and the label sets that every profile has. */
void merge_heaps_init(struct merge *m);

/* Merge heaps and sets of labels, without the counts of their sites. */
void merge_heaps(struct merge *m, struct merge_input *in);

/* Merge the backings of heaps. Call after merge_nodes. */
void merge_backings(struct merge *m, struct merge_input *in);

/* Finish the heaps. Call when the start of the sum is known. */
void merge_heaps_finish(struct merge *m);

#endif

/* merge_tree.h: add the modules, stacks and sites of an input to the sum. Call the functions in the
 * order of this header: each uses the ids that the earlier ones assigned.
 */
#ifndef MERGE_MERGE_TREE_H
#define MERGE_MERGE_TREE_H

#include "merge/merger.h"

/* Initialise the sum: no module, and the nodes that every profile has. */
void merge_tree_init(struct merge *m);

void merge_modules(struct merge *m, struct merge_input *in);

/* Merge the nodes that have counts, together with their locations and frames. */
void merge_nodes(struct merge *m, struct merge_input *in);

/* Add the sites without their counters. Requires merge_heaps. */
void merge_sites(struct merge *m, struct merge_input *in);

void merge_unknown_frees(struct merge *m, struct merge_input *in);
void merge_corruptions(struct merge *m, struct merge_input *in);

/* Make the times of corruptions relative to the earliest start, and sort them by the time they were
 * found. Call after all inputs. */
void merge_corruptions_finish(struct merge *m);

#endif

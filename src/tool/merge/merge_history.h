/* merge_history.h: the history of a sum. */
#ifndef MERGE_MERGE_HISTORY_H
#define MERGE_MERGE_HISTORY_H

#include "merge/merger.h"

/* Create the moments of the empty sum. Arguments as for merge_keep_history. */
void merge_history_begin(struct merge *m, uint64_t from_unix_ns, uint64_t to_unix_ns);

/* Add the changes of IN to the sum, if the sum keeps a history. Requires merge_counters. */
void merge_history(struct merge *m, struct merge_input *in);

/* Compute the counters at the moments. */
void merge_history_finish(struct merge *m);

#endif

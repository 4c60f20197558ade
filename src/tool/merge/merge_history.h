/* merge_history.h: counters of a sum's rows over time. */
#ifndef MERGE_MERGE_HISTORY_H
#define MERGE_MERGE_HISTORY_H

#include "merge/merger.h"

/* The moments of the sum, which is empty. As merge_keep_history. */
void merge_history_begin(struct merge *m, uint64_t from_unix_ns, uint64_t to_unix_ns);

/* The changes of IN into the sum, if they are wanted. After merge_counters. */
void merge_history(struct merge *m, struct merge_input *in);

/* Counters at these moments. */
void merge_history_finish(struct merge *m);

#endif

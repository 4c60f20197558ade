/* merge_access.h: accesses of many profiles as those of one. Private to src/tool/merge. */
#ifndef MERGE_MERGE_ACCESS_H
#define MERGE_MERGE_ACCESS_H

#include "merge/merger.h"

/* Add the accesses that IN has counted. Call after merge_sites. */
void merge_accesses(struct merge *m, struct merge_input *in);

/* Put them in order. After the last input. */
void merge_accesses_finish(struct merge *m);

#endif

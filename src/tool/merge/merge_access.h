/* merge_access.h: merge the access counts of profiles. Private to src/tool/merge. */
#ifndef MERGE_MERGE_ACCESS_H
#define MERGE_MERGE_ACCESS_H

#include "merge/merger.h"

/* Add the access counts of IN. Call after merge_sites. */
void merge_accesses(struct merge *m, struct merge_input *in);

/* Sort the access counts. Call after the last input. */
void merge_accesses_finish(struct merge *m);

#endif

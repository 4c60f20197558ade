/* merge.h: many profiles as one. */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include "profile/profile.h"

struct merge;

struct merge *merge_new(void);

/* Add P, which is symbolised and stays the caller's. P may be a merged profile itself. If none has
 * types, the sum may be given some. */
void merge_add(struct merge *m, const struct profile *p);

/* One more profile could not be read. */
void merge_left_out(struct merge *m);

/* The sum of what was added, fit for write_model; of nothing it is an empty profile. It belongs to
 * M, and nothing can be added to it any more. */
struct profile *merge_finish(struct merge *m);

void merge_free(struct merge *m);

#endif

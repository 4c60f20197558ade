/* merge.h: many profiles as one. */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include "profile/profile.h"

struct merge;

/* An empty sum, to be freed by the caller. */
struct merge *merge_new(void);

/* Add P, which must be symbolised and stays the caller's. P may be a merged profile itself. If no
 * profile has types, the sum may be given some. */
void merge_add(struct merge *m, const struct profile *p);

/* Count one more profile that could not be read. */
void merge_left_out(struct merge *m);

/* The sum of what was added, fit for write_model; of nothing it is an empty profile. It belongs to
 * M, and nothing can be added to it any more. */
struct profile *merge_finish(struct merge *m);

/* Frees the sum as well. */
void merge_free(struct merge *m);

#endif

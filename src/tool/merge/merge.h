/* merge.h: many profiles as one. */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include "profile/profile.h"

struct merge;

/* An empty sum, to be freed by the caller. */
struct merge *merge_new(void);

/* Keep what was counted when, too, of profiles that are all within these times (wall clock). Then
 * what a process still held when it ended counts as freed, unless that was the end of all; such a
 * sum is to be looked at, not to be written. Before the first merge_add. */
void merge_keep_history(struct merge *m, uint64_t from_unix_ns, uint64_t to_unix_ns);

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

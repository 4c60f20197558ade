/* merge.h: sum many profiles. */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include "profile/profile.h"

struct merge;

/* Return an empty sum, which the caller must free. */
struct merge *merge_new(void);

/* Also keep histories, for profiles between these wall clock times. Blocks that a process still
 * holds when it ends count as freed, unless it ends last. Such a sum is for display only and must
 * not be written. Call before the first merge_add. */
void merge_keep_history(struct merge *m, uint64_t from_unix_ns, uint64_t to_unix_ns);

/* Add P, which must be symbolised and stays the caller's. P may be a merged profile. Either all
 * inputs are whole, or all are cut to a moment. If no profile
 * has types, types may be added to the sum later. */
void merge_add(struct merge *m, const struct profile *p);

/* Return true if there is room for P's shares of callers. Call before merge_add; the sum keeps the
 * blocks of each share apart. */
bool merge_takes_callers(struct merge *m, const struct profile *p);

/* Count a profile that could not be read. */
void merge_left_out(struct merge *m);

/* Return the sum of the added profiles, which write_model accepts; an empty profile without inputs.
 * M owns it, and accepts no further input. */
struct profile *merge_finish(struct merge *m);

/* Free M and the sum. */
void merge_free(struct merge *m);

#endif

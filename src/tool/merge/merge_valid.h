/* merge_valid.h: check a sum's invariants; see merge_valid.c. */
#ifndef MERGE_MERGE_VALID_H
#define MERGE_MERGE_VALID_H

#include "merge/merger.h"

/* Is M consistent between two inputs? Only reads; for ENSURE_VALID. */
bool merge_is_valid(const struct merge *m);

#endif

/* merge_valid.h: whether a sum is what it has to be; see merge_valid.c. */
#ifndef MERGE_MERGE_VALID_H
#define MERGE_MERGE_VALID_H

#include "merge/merger.h"

/* Whether M is what it has to be between two inputs. Only reads; for ENSURE_VALID. */
bool merge_is_valid(const struct merge *m);

#endif

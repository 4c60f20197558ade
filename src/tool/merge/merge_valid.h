/* merge_valid.h: check a sum's invariants. */
#ifndef MERGE_MERGE_VALID_H
#define MERGE_MERGE_VALID_H

#include "merge/merger.h"

/* Return true if M is consistent; valid between two inputs. Only reads; for ENSURE_VALID. */
bool merge_is_valid(const struct merge *m);

#endif

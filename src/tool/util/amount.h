/* amount.h: format numbers for people. */
#ifndef UTIL_AMOUNT_H
#define UTIL_AMOUNT_H

#include "util/arena.h"

/* Return VALUE with separators: "1,234". From ARENA. */
const char *amount_count(struct arena *arena, int64_t value);

/* Return VALUE as "12.3 MiB" for bytes, or as "1,234" for counts. From ARENA. */
const char *amount_text(struct arena *arena, int64_t value, bool is_bytes);

/* Return a time for an axis: "350 ms", "12 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". From ARENA. */
const char *amount_time(struct arena *arena, uint64_t ns);

#endif

/* classic.h: numbers as in mprof's tables of 1988, for the options --classic.
 *
 * A percentage has two characters. It is truncated instead of rounded, blank below 1, and 99 also
 * represents 100.
 */
#ifndef VIEW_CLASSIC_H
#define VIEW_CLASSIC_H

#include "util/arena.h"

/* Return PART of WHOLE as two characters, or two blanks. The text is static. */
const char *classic_percent(int64_t part, int64_t whole);

/* Return PART and its percentage of WHOLE: "1023876 (99)", or "0     " with blanks of the same
 * width. From ARENA. */
const char *classic_share(struct arena *arena, int64_t part, int64_t whole);

/* Like classic_share, with room for three digits, so that 0 and 100 are written: "2040000 (100)",
 * "0 (0)  ". */
const char *classic_share_full(struct arena *arena, int64_t part, int64_t whole);

#endif

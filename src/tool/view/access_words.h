/* access_words.h: describe the use of blocks in words. */
#ifndef VIEW_ACCESS_WORDS_H
#define VIEW_ACCESS_WORDS_H

#include "analyse/access_sites.h"

/* Return V for people, "most of each block unused"; or its name in JSON, "mostly-unused". */
const char *access_verdict_words(enum access_verdict v);
const char *access_verdict_name(enum access_verdict v);

/* Return H in JSON: "hot", "warm" or "cold". */
const char *access_heat_name(enum access_heat h);

/* Return the granularity of access counts: "by 8 bytes". From ARENA. */
const char *access_granule_words(struct arena *arena, const struct profile_accesses *a);

/* Return X for people, with its significant digits: "1.2M", "823.1", "0.03". From ARENA. */
const char *access_number(struct arena *arena, double x);

/* Store remarks on the counting of P's accesses: losses, and counts that threads may have lost to
 * each other. Each is one sentence, from ARENA. Return their number, at most ACCESS_REMARKS. */
enum { ACCESS_REMARKS = 10 };
size_t access_remarks(const struct profile *p, struct arena *arena,
                      const char *ret[ACCESS_REMARKS]);

#endif

/* ascii.h: convert our text for terminals and files that only support ASCII. */
#ifndef UTIL_ASCII_H
#define UTIL_ASCII_H

#include "util/arena.h"
#include "util/strbuf.h"

/* Return true if text for people must be ASCII: HEAPTAP_ASCII is 1, or it is unset and the locale's
 * codeset is not UTF-8. */
bool ascii_is_wanted(void);

/* Set the result of ascii_is_wanted, for tests. */
void ascii_want(bool wanted);

/* If S starts with a character of the table, set *RET_STAND_IN to its replacement and return its
 * length in bytes; otherwise return 0. */
size_t ascii_sign(const char *s, const char **ret_stand_in);

/* Return TEXT for output: TEXT itself unless ASCII is requested and TEXT contains characters of the
 * table, otherwise a converted copy from ARENA. */
const char *ascii_text(struct arena *arena, const char *text);

/* Convert the contents of B as ascii_text does. */
void ascii_strbuf(struct strbuf *b);

#endif

/* ascii.h: text for terminals and files that can only show ASCII. */
#ifndef UTIL_ASCII_H
#define UTIL_ASCII_H

#include "util/arena.h"
#include "util/strbuf.h"

/* Return true if text for people must be ASCII: HEAPTAP_ASCII is 1, or it is unset and the locale's
 * codeset is not UTF-8. */
bool ascii_is_wanted(void);

/* For tests: set the result of ascii_is_wanted. */
void ascii_want(bool wanted);

/* If S starts with a character of the table, set *RET_STAND_IN to its replacement and return the
 * character's bytes; else return 0. */
size_t ascii_sign(const char *s, const char **ret_stand_in);

/* Return TEXT for output: unchanged unless ASCII is requested and TEXT contains such characters,
 * else from ARENA. */
const char *ascii_text(struct arena *arena, const char *text);

/* Like ascii_text, for the contents of B. */
void ascii_strbuf(struct strbuf *b);

#endif

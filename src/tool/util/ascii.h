/* ascii.h: text for terminals and files that can only show ASCII. */
#ifndef UTIL_ASCII_H
#define UTIL_ASCII_H

#include "util/arena.h"
#include "util/strbuf.h"

/* Whether text for people goes out in ASCII: HEAPTAP_ASCII says so (1 or 0), or else the locale is
 * of another codeset than UTF-8. */
bool ascii_is_wanted(void);

/* For tests: as if ascii_is_wanted had always said so. */
void ascii_want(bool wanted);

/* If S starts with a character of the table, set *RET_STAND_IN to its replacement and return the
 * character's bytes; else return 0. */
size_t ascii_sign(const char *s, const char **ret_stand_in);

/* TEXT for output: unchanged unless ASCII is requested and it contains such characters, else from
 * ARENA. */
const char *ascii_text(struct arena *arena, const char *text);

/* The same for the contents of B. */
void ascii_strbuf(struct strbuf *b);

#endif

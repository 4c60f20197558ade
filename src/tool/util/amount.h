/* amount.h: format numbers for people. */
#ifndef UTIL_AMOUNT_H
#define UTIL_AMOUNT_H

#include "util/arena.h"
#include "util/strbuf.h"

/* Return VALUE with separators: "1,234". From ARENA. */
const char *amount_count(struct arena *arena, int64_t value);

/* Return VALUE with its noun: "1 block", "2,000 blocks". From ARENA. */
const char *amount_plural(struct arena *arena, int64_t value, const char *noun);

/* Return VALUE as "12.3 MiB" for bytes, or as "1,234" for counts. From ARENA. */
const char *amount_text(struct arena *arena, int64_t value, bool is_bytes);

/* Return a time for an axis: "350 ms", "12 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". From ARENA. */
const char *amount_time(struct arena *arena, uint64_t ns);

/* --- ascii.c: convert our text for terminals and files that only support ASCII. */

/* Return true if text for people must be ASCII: HEAPTAP_ASCII is 1, or it is unset and the locale's
 * codeset is not UTF-8. */
bool ascii_is_wanted(void);

/* Set the result of ascii_is_wanted, for tests. */
void ascii_want(bool wanted);

/* If S starts with a character of the table, set *RET_FALLBACK to its replacement and return its
 * length in bytes; otherwise return 0. */
size_t ascii_sign(const char *s, const char **ret_fallback);

/* Return TEXT for output: TEXT itself unless ASCII is requested and TEXT contains characters of the
 * table, otherwise a converted copy from ARENA. */
const char *ascii_text(struct arena *arena, const char *text);

/* Convert the contents of B as ascii_text does. */
void ascii_strbuf(struct strbuf *b);

/* --- character.c: characters in untrusted text. */

/* Store the UTF-8 character at S in *RET_CHARACTER. Return its length in bytes; 0 if it is invalid.
 * S must not be at the end of the string. */
size_t character_bytes(const char *s, uint32_t *ret_character);

/* Return true if C controls the display or is invisible: a control character, a character without
 * width, one that changes the direction of text, or one that ends a line. */
bool character_drives(uint32_t c);

/* Return the number of terminal columns of C: 2 for Chinese, Japanese and Korean characters,
 * fullwidth forms and most emoji; 1 for all others. */
size_t character_columns(uint32_t c);

/* Return the length in bytes of the character at S if it is safe to show, otherwise 0. In both
 * cases set *RET_SKIP to the distance to the next character. */
size_t character_shown(const char *s, size_t *ret_skip);

/* Return TEXT, or a copy from ARENA with '?' for each character that is not safe to show. */
const char *character_clean(struct arena *arena, const char *text);

#endif

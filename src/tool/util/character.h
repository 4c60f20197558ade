/* character.h: characters in untrusted text. */
#ifndef UTIL_CHARACTER_H
#define UTIL_CHARACTER_H

#include "util/arena.h"

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

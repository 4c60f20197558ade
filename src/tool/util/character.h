/* character.h: characters in text that we did not choose. */
#ifndef UTIL_CHARACTER_H
#define UTIL_CHARACTER_H

#include "util/arena.h"

/* Store the UTF-8 character at S in *RET_CHARACTER, and return its length in bytes; 0 if it is
 * invalid. S must not be at its end. */
size_t character_bytes(const char *s, uint32_t *ret_character);

/* Return true if C acts on the display or is invisible: controls, and characters without width,
 * that change the direction of text, or that end a line. */
bool character_drives(uint32_t c);

/* Return the columns that C takes in a terminal: 2 for Chinese, Japanese and Korean characters,
 * fullwidth forms and most emoji; 1 for all others. */
size_t character_columns(uint32_t c);

/* Return the length in bytes of the character at S if it may be shown, else 0. In both cases
 * *RET_SKIP is the distance to the next one. */
size_t character_shown(const char *s, size_t *ret_skip);

/* Return TEXT, or a copy from ARENA in which each character that may not be shown is a '?'. */
const char *character_clean(struct arena *arena, const char *text);

#endif

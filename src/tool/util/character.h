/* character.h: characters in text that we did not choose. */
#ifndef UTIL_CHARACTER_H
#define UTIL_CHARACTER_H

#include "base/base.h"

/* How many bytes the UTF-8 character at S has, which goes to *RET_CHARACTER; 0 if there is none. S
 * must not be at its end. */
size_t character_bytes(const char *s, uint32_t *ret_character);

/* Return true if C acts on the display or is invisible: controls, and characters without width,
 * that change the direction of text, or that end a line. */
bool character_drives(uint32_t c);

/* How many bytes the character at S has if it may be shown, else 0. In both cases *RET_SKIP is how
 * far the next one is. */
size_t character_shown(const char *s, size_t *ret_skip);

#endif

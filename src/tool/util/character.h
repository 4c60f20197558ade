/* character.h: characters in text that we did not choose. */
#ifndef UTIL_CHARACTER_H
#define UTIL_CHARACTER_H

#include "base/base.h"

/* The bytes of the UTF-8 character at S, which is not at its end, or 0 if they form none. */
size_t character_bytes(const char *s, uint32_t *ret_character);

/* Whether C does something to what shows it instead of being shown: controls, and what changes the
 * direction of text or ends a line. */
bool character_drives(uint32_t c);

/* The bytes of the character at S if it may be shown, else 0; *RET_SKIP is how many bytes to go on
 * by in either case. */
size_t character_shown(const char *s, size_t *ret_skip);

#endif

/* shell_word.h: names of files in commands that a message suggests. */
#ifndef UTIL_SHELL_WORD_H
#define UTIL_SHELL_WORD_H

#include "util/arena.h"

/* Return PATH as one word for a shell, for a command of heaptap that opens it. The word survives
 * the cleaning of messages unchanged. From ARENA, or PATH itself. */
const char *shell_word(struct arena *arena, const char *path);

#endif

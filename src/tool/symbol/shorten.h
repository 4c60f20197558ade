/* shorten.h: shorten names of functions for people. */
#ifndef SYMBOL_SHORTEN_H
#define SYMBOL_SHORTEN_H

#include "util/arena.h"

/* Text in place of omitted text; output may convert it to ASCII. */
#define SYMBOL_ELLIPSIS "\xe2\x80\xa6"

/* Return FUNCTION shortened for people. Default template arguments, std::__cxx11 and allocators are
 * removed, and parameter lists if the name exceeds WIDTH columns. From ARENA. */
const char *symbol_shorten(struct arena *arena, const char *function, size_t width);

/* Like symbol_shorten, with ELLIPSIS for omitted text, independent of the locale. */
const char *symbol_shorten_by(struct arena *arena, const char *function, size_t width,
                              const char *ellipsis);

#endif

/* shorten.h: names of functions for people. */
#ifndef SYMBOL_SHORTEN_H
#define SYMBOL_SHORTEN_H

#include "util/arena.h"

/* Replacement for omitted text, in ASCII. */
#define SYMBOL_ELLIPSIS "\xe2\x80\xa6"

/* FUNCTION shortened for people: default template arguments, std::__cxx11 and allocator noise,
 * parameter lists of more than WIDTH characters. From ARENA. */
const char *symbol_shorten(struct arena *arena, const char *function, size_t width);

/* Like symbol_shorten, with ELLIPSIS for omitted text, independent of the locale. */
const char *symbol_shorten_by(struct arena *arena, const char *function, size_t width,
                              const char *ellipsis);

#endif

/* shorten.h: names of functions for people. */
#ifndef SYMBOL_SHORTEN_H
#define SYMBOL_SHORTEN_H

#include "util/arena.h"

/* FUNCTION shortened for people: default template arguments, std::__cxx11 and allocator noise,
 * parameter lists of more than WIDTH characters. From ARENA. */
const char *symbol_shorten(struct arena *arena, const char *function, size_t width);

#endif

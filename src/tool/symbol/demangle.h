/* demangle.h: convert linkage names to source names. */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "util/arena.h"

/* Return the source name of LINKAGE (C++, Rust, D), with parameters if the mangling has them. A
 * symbol version ("@GLIBC_2.2.5") is removed. Names that are not mangled are returned unchanged.
 * The result is from ARENA or is LINKAGE. */
const char *demangle(struct arena *arena, const char *linkage);

/* Return LINKAGE without the suffix of a function that the compiler split or copied (".part.0",
 * ".cold", ".llvm.123"). The result is from ARENA or is LINKAGE. */
const char *demangle_strip_clone(struct arena *arena, const char *linkage);

/* --- shorten.c: shorten names of functions for people. */

/* Text in place of omitted text; output may convert it to ASCII. */
#define SYMBOL_ELLIPSIS "\xe2\x80\xa6"

/* Return FUNCTION shortened for people. Inline namespaces such as std::__cxx11 are removed, and
 * comparators, hashes and allocators that are the default for the element. Strings, streams and
 * std::mt19937 get their short names. Parameter lists are removed if the name exceeds WIDTH
 * columns. From ARENA. */
const char *symbol_shorten(struct arena *arena, const char *function, size_t width);

/* Return FUNCTION, with its parameters, without the return type that demanglers put in front of a
 * template's name. From ARENA. */
const char *symbol_without_result(struct arena *arena, const char *function);

/* Like symbol_shorten, with ELLIPSIS for omitted text, independent of the locale. */
const char *symbol_shorten_by(struct arena *arena, const char *function, size_t width,
                              const char *ellipsis);

#endif

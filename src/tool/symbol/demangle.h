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

#endif

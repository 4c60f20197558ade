/* demangle.h: convert linkage names to source names. */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "util/arena.h"

/* Return the source name of LINKAGE (C++, Rust, D), with parameters where the mangling has them; a
 * symbol version ("@GLIBC_2.2.5") is dropped. Names that are not mangled are returned unchanged.
 * From ARENA or LINKAGE. */
const char *demangle(struct arena *arena, const char *linkage);

/* Return LINKAGE without the suffix of a compiler-made copy (".part.0", ".cold", ".llvm.123"). From
 * ARENA or LINKAGE. */
const char *demangle_strip_clone(struct arena *arena, const char *linkage);

#endif

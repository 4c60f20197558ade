/* demangle.h: linkage names to names people write. */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "util/arena.h"

/* The source name of LINKAGE (C++, Rust, D), with parameters where the mangling has them; a symbol
 * version ("@GLIBC_2.2.5") is dropped. Anything that is not mangled comes back as it is. From ARENA
 * or LINKAGE. */
const char *demangle(struct arena *arena, const char *linkage);

/* LINKAGE without the suffix of a compiler-made copy (".part.0", ".cold", ".llvm.123"). From ARENA
 * or LINKAGE. */
const char *demangle_strip_clone(struct arena *arena, const char *linkage);

#endif

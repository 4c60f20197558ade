/* type_template.h: types that a function's name tells. */
#ifndef TYPE_TYPE_TEMPLATE_H
#define TYPE_TYPE_TEMPLATE_H

#include "util/arena.h"

/* The type for which FUNCTION (demangled, complete) allocates arrays, or NULL: what the template of
 * an allocator or a string was made for, and characters for functions of the C library that are
 * known to return text. From ARENA or static. */
const char *type_of_allocator(const char *function, struct arena *arena);

/* Whether FUNCTION is of Rust's library of boxes and collections, which allocates for its callers.
 */
bool type_is_rust_library(const char *function);

/* Whether FUNCTION sounds like one that only allocates. */
bool type_is_allocator_name(const char *function);

#endif

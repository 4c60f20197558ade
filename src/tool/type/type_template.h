/* type_template.h: find types in a function's name. */
#ifndef TYPE_TYPE_TEMPLATE_H
#define TYPE_TYPE_TEMPLATE_H

#include "util/arena.h"

/* Return the type of the elements that FUNCTION (demangled, complete) allocates, or NULL. The type
 * is the argument of an allocator or string template, or char for functions of the C library that
 * return text. From ARENA or static. */
const char *type_of_allocator(const char *function, struct arena *arena);

/* Return true if FUNCTION belongs to Rust's library of boxes and collections, which allocates for
 * its callers.
 */
bool type_is_rust_library(const char *function);

/* Return true if FUNCTION has the name of a pure allocation function. */
bool type_is_allocator_name(const char *function);

#endif

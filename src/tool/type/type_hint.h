/* type_hint.h: find type hints in the text of the allocating statement. */
#ifndef TYPE_TYPE_HINT_H
#define TYPE_TYPE_HINT_H

#include "util/arena.h"

enum hint_kind {
    HINT_NEW,    // new TYPE, or make_unique<TYPE>
    HINT_CAST,   // (TYPE *) before the call
    HINT_SIZEOF, // sizeof TYPE or sizeof EXPRESSION
    HINT_TARGET, // EXPRESSION = call, which means its pointed-to type; or TYPE * NAME = call
    HINT_NAME,   // An argument of the call that may be a type: MACRO(TYPE, n)
};

struct hint_token {
    const char *text; // Not NUL-terminated.
    uint32_t length;
    bool is_word; // An identifier or keyword.
};

/* A hint and its words: "struct", "foo", "*". */
struct type_hint {
    enum hint_kind kind;
    bool in_sum; // HINT_SIZEOF: the sizeof is a term of a sum.
    const struct hint_token *tokens;
    size_t count;
};

enum { HINTS_MAX = 12 };

/* Find the hints in the statement around LINE of the C or C++ text SOURCE that calls CALLEE, or any
 * allocation function if CALLEE is NULL or not in it. Return their number. The hints borrow from
 * SOURCE and ARENA. */
size_t type_hints(const char *source, size_t size_bytes, uint32_t line, const char *callee,
                  struct arena *arena, struct type_hint hints[HINTS_MAX]);

/* --- type_template.c: find types in a function's name. */

/* Return the type of the elements that FUNCTION (demangled, complete) allocates, or NULL. The type
 * is the argument of an allocator or string template, or char for functions of the C library that
 * return text. From ARENA or static. */
const char *type_of_allocator(const char *function, struct arena *arena);

/* Return the type of the Python objects that FUNCTION of CPython allocates, or whose contents it
 * allocates; NULL = unknown. Local functions of CPython are only recognised if IS_RUNTIME is true.
 * The result is static. */
const char *type_of_python(const char *function, bool is_runtime);

/* Return true if FUNCTION of CPython allocates objects of any type for its callers. */
bool type_is_python_allocator(const char *function);

/* Return true if FUNCTION belongs to Rust's library of boxes and collections, which allocates for
 * its callers. */
bool type_is_rust_library(const char *function);

/* Return true if FUNCTION is named like an allocation function: operator new, or a name that
 * contains "alloc" in upper or lower case. */
bool type_is_allocator_name(const char *function);

#endif

/* type_clue.h: find type clues in the text of the allocating statement. */
#ifndef TYPE_TYPE_CLUE_H
#define TYPE_TYPE_CLUE_H

#include "util/arena.h"

enum clue_kind {
    CLUE_NEW,    // new TYPE, or make_unique<TYPE>
    CLUE_CAST,   // (TYPE *) before the call
    CLUE_SIZEOF, // sizeof TYPE or sizeof EXPRESSION
    CLUE_TARGET, // EXPRESSION = call, which means its pointed-to type; or TYPE * NAME = call
    CLUE_NAME,   // An argument of the call that may be a type: MACRO(TYPE, n)
};

struct clue_token {
    const char *text; // Not NUL-terminated.
    uint32_t length;
    bool is_word; // An identifier or keyword.
};

/* A clue and its words: "struct", "foo", "*". */
struct type_clue {
    enum clue_kind kind;
    bool in_sum; // CLUE_SIZEOF: the sizeof is a term of a sum.
    const struct clue_token *tokens;
    size_t count;
};

enum { CLUES_MAX = 12 };

/* Find the clues in the statement around LINE of the C or C++ text SOURCE that calls CALLEE, or any
 * allocation function if CALLEE is NULL or not in it. Return their number. The clues borrow from
 * SOURCE and ARENA. */
size_t type_clues(const char *source, size_t size_bytes, uint32_t line, const char *callee,
                  struct arena *arena, struct type_clue clues[CLUES_MAX]);

/* --- type_template.c: find types in a function's name. */

/* Return the type of the elements that FUNCTION (demangled, complete) allocates, or NULL. The type
 * is the argument of an allocator or string template, or char for functions of the C library that
 * return text. From ARENA or static. */
const char *type_of_allocator(const char *function, struct arena *arena);

/* Return true if FUNCTION belongs to Rust's library of boxes and collections, which allocates for
 * its callers. */
bool type_is_rust_library(const char *function);

/* Return true if FUNCTION is named like an allocation function: operator new, or a name that
 * contains "alloc" in upper or lower case. */
bool type_is_allocator_name(const char *function);

#endif

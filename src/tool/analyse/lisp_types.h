/* lisp_types.h: Lisp types, and their classes in mprof's tables; see lisp_types.c. */
#ifndef ANALYSE_LISP_TYPES_H
#define ANALYSE_LISP_TYPES_H

#include "profile/profile.h"

enum lisp_class {
    LISP_CONS,
    LISP_FLOAT,
    LISP_STRUCTURE,
    LISP_OTHER,
    LISP_CLASSES,
};

/* Return the letter of CLASS, and a description of its objects. */
const char *lisp_class_letter(enum lisp_class class);
const char *lisp_class_title(enum lisp_class class);

/* Return the Lisp type of the objects of HEAP, and its class in *RET_CLASS; NULL if HEAP is not
 * Lisp's. */
const char *lisp_type(const struct profile_heap *heap, enum lisp_class *ret_class);

/* Sum of a type, or of a whole class (type NULL). */
struct lisp_row {
    enum lisp_class class;
    const char *type;
    struct counters counters;
};

struct lisp_types {
    struct lisp_row *v; // The classes in order, each followed by its types, most bytes first.
    size_t count;
    struct counters total;
};

/* Build a row for each class and each type of P's Lisp objects. Builds no rows if P has no such
 * objects. From ARENA. */
void lisp_types_build(const struct profile *p, struct arena *arena, struct lisp_types *ret);

#endif

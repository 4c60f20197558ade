/* lisp_types.h: Lisp types, and the classes that mprof's tables had of them; see lisp_types.c. */
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

/* A class's letter and contents. */
const char *lisp_class_letter(enum lisp_class class);
const char *lisp_class_title(enum lisp_class class);

/* The type that the objects of HEAP are of, and its class; NULL if they are not Lisp's. */
const char *lisp_type(const struct profile_heap *heap, enum lisp_class *ret_class);

/* One type, or a class as a whole, whose type is NULL. */
struct lisp_row {
    enum lisp_class class;
    const char *type;
    struct counters counters;
};

struct lisp_types {
    struct lisp_row *v; // Each class, in order, and then its types, most bytes first.
    size_t count;
    struct counters total;
};

/* All Lisp objects of P, with memory from ARENA. No rows: it has none. */
void lisp_types_build(const struct profile *p, struct arena *arena, struct lisp_types *ret);

#endif

/* operators_static.h: the C++ operators in a static executable, by name. */
#ifndef ALLOCATOR_OPERATORS_STATIC_H
#define ALLOCATOR_OPERATORS_STATIC_H

struct linked_operator {
    const char *name; // Mangled name; NULL in the last element.
    void *real;       // Address of the operator: the program's, or the C++ library's.
};

/* Address of the array of operators in operators_static.c; NULL in a program without C++. */
extern __attribute__((weak)) const struct linked_operator heaptap_operators[];

#endif

/* real_static.h: the differences between C libraries in a static executable. */
#ifndef ALLOCATOR_REAL_STATIC_H
#define ALLOCATOR_REAL_STATIC_H

#include "allocator/real.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
/* Functions that the program would call without the recorder, named by --wrap. Every allocator has
 * them. */
alloc_fn __real_malloc;
calloc_fn __real_calloc;
realloc_fn __real_realloc;
free_fn __real_free;
reallocarray_fn __real_reallocarray;
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

/* Functions of struct real_allocator, with names of this file because some C library lacks them. If
 * the program lacks a function, calling it fails or returns 0. */
posix_memalign_fn linked_posix_memalign;
memalign_fn linked_memalign, linked_aligned_alloc;
alloc_fn linked_valloc, linked_pvalloc;
usable_fn linked_usable;

/* Implement real_usable_mode for this C library. */
uint32_t linked_usable_mode(void);

#endif

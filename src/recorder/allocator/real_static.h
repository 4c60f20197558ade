/* real_static.h: the differences between C libraries in a static executable. */
#ifndef ALLOCATOR_REAL_STATIC_H
#define ALLOCATOR_REAL_STATIC_H

#include "allocator/real.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
/* By --wrap, the functions that the program would call. Every allocator has them. */
alloc_fn __real_malloc;
calloc_fn __real_calloc;
realloc_fn __real_realloc;
free_fn __real_free;
reallocarray_fn __real_reallocarray;
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

/* Definitions of these names for struct real_allocator. A function that the program lacks fails, or
 * returns 0. */
posix_memalign_fn linked_posix_memalign;
memalign_fn linked_memalign, linked_aligned_alloc;
alloc_fn linked_valloc, linked_pvalloc;
usable_fn linked_usable;

/* Return real_usable_mode for this C library. */
uint32_t linked_usable_mode(void);

#endif

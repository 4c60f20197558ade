/* module_end.h: end of a program or library in memory. */
#ifndef IMAGE_MODULE_END_H
#define IMAGE_MODULE_END_H

#include "image/examined.h"

/* Return the end of the module that MAPPING is a part of, including its variables that start as
 * zeros; UINT64_MAX if unknown. */
uint64_t module_end(const struct examined *e, const struct memory_mapping *mapping);

/* Return the most bytes of thread-local variables that the programs and libraries in M have below
 * a thread pointer. */
uint64_t module_local_bytes(const struct memory *m);

#endif

/* module_end.h: how far a program or library reaches in memory. */
#ifndef IMAGE_MODULE_END_H
#define IMAGE_MODULE_END_H

#include "image/examined.h"

/* Where the module that MAPPING is a part of ends, the variables that start as zeros included;
 * UINT64_MAX if nothing tells. */
uint64_t module_end(const struct examined *e, const struct memory_mapping *mapping);

#endif

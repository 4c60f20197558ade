/* image.h: finds functions of a mapped object by the object's own tables. */
#ifndef PLATFORM_IMAGE_H
#define PLATFORM_IMAGE_H

#include "unwind/unwind.h"

/* Describe the object whose file header is mapped at HEADER, which is 0 or readable for a page.
 * Return false if there is no object. The description lacks unwind tables and link map. */
bool image_at(uint64_t header, struct unwind_object *ret_object);

/* Return the address of the function that OBJECT exports as NAME; NULL if there is none, or if it
 * is an indirect function. Reads nothing outside OBJECT's readable segments, even with corrupt
 * tables. Lock-free, async-signal-safe. */
void *image_function(const struct unwind_object *object, const char *name);

#endif

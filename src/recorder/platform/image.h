/* image.h: functions of an object that is mapped, found by the object's own tables. */
#ifndef PLATFORM_IMAGE_H
#define PLATFORM_IMAGE_H

#include "unwind/unwind.h"

/* The object whose file header is mapped at HEADER, which is 0 or readable for a page: false if it
 * is none. It has no unwind tables and no link map. */
bool image_at(uint64_t header, struct unwind_object *ret_object);

/* The address of the function that OBJECT defines as NAME for others; NULL if it does not, or if it
 * would have to choose one of several. Reads nothing outside OBJECT's readable segments, whatever
 * its tables say. Lock-free, signal-safe. */
void *image_function(const struct unwind_object *object, const char *name);

#endif

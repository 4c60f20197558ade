/* readable.h: what of a loaded object can be read. */
#ifndef UNWIND_READABLE_H
#define UNWIND_READABLE_H

#include "unwind/object.h"

/* Where what can be read at ADDRESS in OBJECT ends: its segment's end, or the object's if the
 * segments are not known; 0 if nothing can be read there. */
uint64_t unwind_readable_end(const struct unwind_object *object, uint64_t address);

#endif

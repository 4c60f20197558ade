/* readable.h: readable parts of a loaded object. */
#ifndef UNWIND_READABLE_H
#define UNWIND_READABLE_H

#include "unwind/object.h"

/* Return the end of the readable memory around ADDRESS in OBJECT; 0 if ADDRESS is not readable.
 * This is the end of the segment, or of the object if the segments are unknown. */
uint64_t unwind_readable_end(const struct unwind_object *object, uint64_t address);

#endif

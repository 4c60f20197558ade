/* readable.h: readable parts of a loaded object. */
#ifndef UNWIND_READABLE_H
#define UNWIND_READABLE_H

#include "unwind/object.h"

/* End of the readable memory around ADDRESS in OBJECT: the end of its segment, or of the object if
 * the segments are unknown; 0 if ADDRESS is not readable. */
uint64_t unwind_readable_end(const struct unwind_object *object, uint64_t address);

#endif

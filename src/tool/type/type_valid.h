/* type_valid.h: whether the index of a module's types keeps the promises of type_index.h. See
 * util/ensure.h for what validity functions are. */
#ifndef TYPE_TYPE_VALID_H
#define TYPE_TYPE_VALID_H

#include "type/type_index.h"

/* INDEX, once it is sorted. Only reads. */
bool type_index_is_valid(const struct type_index *index);

#endif

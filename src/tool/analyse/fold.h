/* fold.h: allocation wrappers, whose allocations are charged to their caller. */
#ifndef ANALYSE_FOLD_H
#define ANALYSE_FOLD_H

#include "base/base.h"

enum { FOLD_NAME_MAX = 256 };

/* Return true if FUNCTION (demangled, complete) is in the built-in table of wrappers. */
bool fold_is_wrapper(const char *function);

/* Length of the prefix of the C library's internal aliases ("__GI_strdup"), or 0. */
size_t fold_alias_length(const char *function);

/* The qualified name of FUNCTION without return type, template arguments and parameters, cut to
 * fit: "std::_Vector_base::_M_allocate" for "std::_Vector_base<int, std::allocator<int>
 * >::_M_allocate(unsigned long)". Names that are no C++ declarations are copied unchanged. */
void fold_plain_name(const char *function, char ret[FOLD_NAME_MAX]);

#endif

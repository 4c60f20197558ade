/* fold.h: allocation wrappers, whose allocations are charged to their callers. */
#ifndef ANALYSE_FOLD_H
#define ANALYSE_FOLD_H

#include "base/base.h"

enum { FOLD_NAME_MAX = 256 };

/* Return true if FUNCTION (demangled, complete) is in the built-in table of wrappers, or is a
 * wrapper by the convention for names. */
bool fold_is_wrapper(const char *function);

/* Return the length of the prefix of the C library's internal aliases ("__GI_strdup"), or 0. */
size_t fold_alias_length(const char *function);

/* Store the qualified name of FUNCTION without return type, template arguments and parameters in
 * RET, cut to fit. Names that are not C++ declarations are copied unchanged. Example:
 * "std::_Vector_base::_M_allocate" for "std::_Vector_base<int, std::allocator<int>
 * >::_M_allocate(unsigned long)". */
void fold_plain_name(const char *function, char ret[FOLD_NAME_MAX]);

#endif

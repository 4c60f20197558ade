/* wrapper_name.h: names of functions that only obtain memory for their caller. */
#ifndef WRAPPER_WRAPPER_NAME_H
#define WRAPPER_WRAPPER_NAME_H

#include <stdbool.h>

/* Return true if NAME, without parameters and template arguments, is in the built-in table of
 * wrappers, or is a wrapper by the convention for names. */
bool wrapper_name_is(const char *name);

/* The same for SYMBOL, a linkage name. */
bool wrapper_symbol_is(const char *symbol);

#endif

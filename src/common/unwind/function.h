/* function.h: the bounds of a function. */
#ifndef UNWIND_FUNCTION_H
#define UNWIND_FUNCTION_H

#include "base/base.h"

/* Return the start of the function that contains the instruction at PC, by its unwind entry; 0 if
 * it has none. Signal-safe. */
uint64_t unwind_function(uint64_t pc);

/* Likewise, return its end: the first address after it. */
uint64_t unwind_function_end(uint64_t pc);

#endif

/* function.h: the bounds of a function. */
#ifndef UNWIND_FUNCTION_H
#define UNWIND_FUNCTION_H

#include "base/base.h"

/* Return the start of the function that contains the instruction at PC, from its unwind entry; 0 if
 * no entry covers PC. Signal-safe. */
uint64_t unwind_function(uint64_t pc);

/* Return the end of the function that contains the instruction at PC, the first address after it; 0
 * if no entry covers PC. Signal-safe. */
uint64_t unwind_function_end(uint64_t pc);

#endif

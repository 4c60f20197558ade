/* function.h: where a function begins. */
#ifndef UNWIND_FUNCTION_H
#define UNWIND_FUNCTION_H

#include "base/base.h"

/* Where the function begins that the instruction at PC is in, by its unwind entry; 0 if it has
 * none. Signal-safe. */
uint64_t unwind_function(uint64_t pc);

/* And where it ends: the first address behind it. */
uint64_t unwind_function_end(uint64_t pc);

#endif

/* ecl_code.h: which Lisp functions compiled code is; see ecl_code.c. */
#ifndef LANGUAGE_ECL_CODE_H
#define LANGUAGE_ECL_CODE_H

#include <ecl/ecl.h>
#include <stdbool.h>

/* The C function ENTRY is the Lisp function NAME, from the code of BLOCK. Not in an event. */
void ecl_code_add(const void *entry, cl_object name, cl_object block);

/* Whether ECL has begun to make functions, and so knows its threads. */
bool ecl_code_begun(void);

/* The id of the function that PC, a return address, is in; 0 = none is known. In any thread, at any
 * time. */
unsigned ecl_code_of(unsigned long pc);

#endif

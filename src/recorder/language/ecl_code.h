/* ecl_code.h: maps compiled code to Lisp functions; see ecl_code.c. */
#ifndef LANGUAGE_ECL_CODE_H
#define LANGUAGE_ECL_CODE_H

#include <ecl/ecl.h>
#include <stdbool.h>

/* Record that the C function ENTRY implements the Lisp function NAME, from the code of BLOCK. Call
 * outside events. */
void ecl_code_add(const void *entry, cl_object name, cl_object block);

/* Return true if ECL has begun to create functions. ECL's thread data is valid from then on. */
bool ecl_code_begun(void);

/* Return the id of the function that contains PC, a return address; 0 if unknown. Thread-safe and
 * async-signal-safe. */
unsigned ecl_code_of(unsigned long pc);

#endif

/* ecl_names.h: names of ECL's Lisp functions as ids of the recorder; see ecl_names.c.
 *
 * Thread-safe and async-signal-safe.
 */
#ifndef LANGUAGE_ECL_NAMES_H
#define LANGUAGE_ECL_NAMES_H

#include <ecl/ecl.h>

/* Return the id for a function named TEXT. */
unsigned ecl_name_of_text(const char *text);

/* Return the id for a function's NAME: a symbol, a list (SETF X), or NIL for a lambda. */
unsigned ecl_name_of(cl_object name);

/* Return the id for FUNCTION, an element of ECL's own list of frames; 0 = none. Cached until the
 * next collection. */
unsigned ecl_name_of_function(cl_object function);

/* Invalidate the cache after a collection, or the entry of FUNCTION, which was freed separately. */
void ecl_names_forget(void);
void ecl_names_forget_one(const void *function);

#endif

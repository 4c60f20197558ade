/* ecl_names.h: names of Lisp functions of ECL as ids of the recorder; see ecl_names.c.
 *
 * May be called at any time by any thread.
 */
#ifndef LANGUAGE_ECL_NAMES_H
#define LANGUAGE_ECL_NAMES_H

#include <ecl/ecl.h>

/* The id for a function called TEXT. */
unsigned ecl_name_of_text(const char *text);

/* Return the id for NAME, a function's name: a symbol, a list (SETF X), NIL for a lambda. */
unsigned ecl_name_of(cl_object name);

/* The id for a function, or what stands for one in ECL's own list of frames. 0: none. Kept until
 * the next collection. */
unsigned ecl_name_of_function(cl_object function);

/* Objects have been collected, or FUNCTION alone was freed. */
void ecl_names_forget(void);
void ecl_names_forget_one(const void *function);

#endif

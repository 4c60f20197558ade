/* python_name.h: assigns recorder ids to instructions of Python functions. */
#ifndef LANGUAGE_PYTHON_NAME_H
#define LANGUAGE_PYTHON_NAME_H

#include "language/python_layout.h"

/* Position of a frame that has executed no instruction yet. */
#define PYTHON_NOT_BEGUN UINT64_MAX

/* Initialise; call before the other functions. TYPE is the type of code objects. */
void python_name_begin(const struct python_layout *layout, const void *type);

/* Return the number of the code object CODE, which stays readable while it runs. Return 0 if CODE,
 * which may have any value, is not a code object. Thread-safe and async-signal-safe. */
uint64_t python_name_code(const void *code);

/* Return the id for a frame of CODE, whose number is NUMBER, at the instruction AT bytes after the
 * first. */
unsigned python_name_of(const void *code, uint64_t number, uint64_t at);

/* Record that the object at P is about to be freed. Call for all objects, with the interpreter's
 * lock held. */
void python_name_freed(const void *p);

#endif

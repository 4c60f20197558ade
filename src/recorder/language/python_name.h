/* python_name.h: the recorder's id of an instruction of a Python function. */
#ifndef LANGUAGE_PYTHON_NAME_H
#define LANGUAGE_PYTHON_NAME_H

#include "language/python_layout.h"

/* Position of an instruction that has not begun. */
#define PYTHON_NOT_BEGUN UINT64_MAX

/* Call before the others. TYPE is the type of code objects. */
void python_name_begin(const struct python_layout *layout, const void *type);

/* Return the number of the code object CODE, which stays readable while it runs. Return 0 if CODE
 * is no code object. CODE may have any value. Thread-safe and async-signal-safe. */
uint64_t python_name_code(const void *code);

/* Return the id of the frame of CODE, whose number is NUMBER, at the instruction AT bytes after its
 * first. */
unsigned python_name_of(const void *code, uint64_t number, uint64_t at);

/* Record that the object at P is freed. Call for all objects, with the interpreter's lock held. */
void python_name_freed(const void *p);

#endif

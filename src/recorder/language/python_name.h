/* python_name.h: the recorder's id of an instruction of a Python function. */
#ifndef LANGUAGE_PYTHON_NAME_H
#define LANGUAGE_PYTHON_NAME_H

#include "language/python_layout.h"

/* For an instruction that has not begun. */
#define PYTHON_NOT_BEGUN UINT64_MAX

/* Call before the others. TYPE is the type of code objects. */
void python_name_begin(const struct python_layout *layout, const void *type);

/* The number of the code object CODE, which can be read then, as long as it runs. Any CODE will do,
 * at any time; 0 if it is none. */
uint64_t python_name_code(const void *code);

/* The id of the frame of CODE, whose number is NUMBER, at the instruction AT bytes from its
 * first. */
unsigned python_name_of(const void *code, uint64_t number, uint64_t at);

/* The object at P is freed. Call for all objects, from the thread that holds the interpreter's
 * lock. */
void python_name_freed(const void *p);

#endif

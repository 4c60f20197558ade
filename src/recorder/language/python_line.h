/* python_line.h: the line of an instruction, from the table that its code object has. */
#ifndef LANGUAGE_PYTHON_LINE_H
#define LANGUAGE_PYTHON_LINE_H

#include "language/python_layout.h"

/* Return the line of the instruction AT bytes behind the first one of a code object that begins at
 * line FIRST. Its table of lines is the BYTES at TABLE, in the format KIND. 0 = it has no line. Any
 * contents of TABLE are safe. */
unsigned python_line_of(enum python_lines kind, const unsigned char *table, size_t bytes,
                        unsigned first, uint64_t at);

#endif

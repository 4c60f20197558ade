/* python_line.h: finds the line of an instruction in the line table of its code object. */
#ifndef LANGUAGE_PYTHON_LINE_H
#define LANGUAGE_PYTHON_LINE_H

#include "language/python_layout.h"

/* Return the line of the instruction AT bytes after the first one of a code object that begins at
 * line FIRST; 0 if it has no line. The line table is the BYTES at TABLE, in the format KIND. TABLE
 * may have any content. */
unsigned python_line_of(enum python_lines kind, const unsigned char *table, size_t bytes,
                        unsigned first, uint64_t at);

#endif

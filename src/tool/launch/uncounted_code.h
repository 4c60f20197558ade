/* uncounted_code.h: find code that clang compiles without counting. */
#ifndef LAUNCH_UNCOUNTED_CODE_H
#define LAUNCH_UNCOUNTED_CODE_H

#include "util/arena.h"

/* Accesses that clang's -fmemory-profile omits or miscounts. */
enum uncounted_code {
    UNCOUNTED_STRUCTURES = 1 << 0, // Arguments that are structures, copied by the code generator.
    UNCOUNTED_ATOMICS = 1 << 1,    // Operations that read and write, counted as a write.
    UNCOUNTED_ASSEMBLER = 1 << 2,  // Assembler statements and intrinsics with pointers.
};

/* Find such accesses in the sources among the COUNT ARGUMENTS of COMPILER, a clang, which runs once
 * for each source. Returns all flags if a source cannot be examined. */
unsigned uncounted_code_find(const char *compiler, int count, char **arguments,
                             struct arena *arena);

/* Return the flags for one LINE of the intermediate code that clang prints. */
unsigned uncounted_code_of_line(const char *line);

#endif

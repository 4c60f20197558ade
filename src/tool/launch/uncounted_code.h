/* uncounted_code.h: what clang compiles without counting. */
#ifndef LAUNCH_UNCOUNTED_CODE_H
#define LAUNCH_UNCOUNTED_CODE_H

#include "util/arena.h"

/* Accesses that clang's -fmemory-profile leaves out, or takes for others. */
enum uncounted_code {
    UNCOUNTED_STRUCTURES = 1 << 0, // Arguments that are structures, copied by the code generator.
    UNCOUNTED_ATOMICS = 1 << 1,    // Operations that read and write count as a write.
    UNCOUNTED_ASSEMBLER = 1 << 2,  // Assembler statements and intrinsics with pointers.
};

/* Find these in the sources among the COUNT ARGUMENTS of COMPILER, a clang. Runs it once for each.
 * Returns all of them for a source that cannot be examined. */
unsigned uncounted_code_find(const char *compiler, int count, char **arguments,
                             struct arena *arena);

/* Those in one LINE of the intermediate code that clang prints. */
unsigned uncounted_code_of_line(const char *line);

#endif

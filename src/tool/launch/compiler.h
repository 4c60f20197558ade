/* compiler.h: command line of a compiler for a program that counts its accesses. */
#ifndef LAUNCH_COMPILER_H
#define LAUNCH_COMPILER_H

#include "base/base.h"
#include "util/arena.h"
#include "util/err.h"

enum compiler_language { COMPILER_C, COMPILER_CXX };

struct compiler_requests {
    enum compiler_language language;
    const char *compiler; // A name or a path; "clang" means any release.
    uint32_t granule_bytes; // 8, 16 or 64.
    bool exact_threads;
    bool reads_writes; // Count reads and writes separately, as gcc always does.
    bool only_line;    // The command will not run, so do not examine the sources.
};

/* Build the command line for the COUNT ARGUMENTS of a compiler in *RET_LINE, terminated by NULL,
 * from ARENA. Returns 0, or HEAPTAP_BAD_INPUT or HEAPTAP_NOT_FOUND with ERR set. */
int compiler_line(const struct compiler_requests *w, int count, char **arguments,
                  struct arena *arena, char ***ret_line, struct err *err);

/* --- compiler_arguments.c: distinguish inputs from other arguments of a compiler. */

/* Return true if the next argument is the value of ARGUMENT. */
bool argument_takes_value(const char *argument);

/* Return true if only the linker reads the input at PATH. */
bool argument_is_for_linker(const char *path);

/* --- uncounted_code.c: find code that clang compiles without counting. */

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

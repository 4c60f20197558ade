/* compiler.h: command line of a compiler for a program that counts its accesses. */
#ifndef LAUNCH_COMPILER_H
#define LAUNCH_COMPILER_H

#include "util/arena.h"
#include "util/err.h"

enum compiler_language { COMPILER_C, COMPILER_CXX };

struct compiler_wishes {
    enum compiler_language language;
    const char *compiler; // A name or a path; "clang" means any release.
    uint32_t granule_bytes; // 8, 16 or 64.
    bool exact_threads;
    bool reads_writes; // Count reads and writes separately, as gcc always does.
    bool only_line;    // The command will not run, so do not examine the sources.
};

/* Build the command line for the COUNT ARGUMENTS of a compiler in *RET_LINE, terminated by NULL,
 * from ARENA. Returns 0, or HEAPTAP_BAD_INPUT or HEAPTAP_NOT_FOUND with ERR set. */
int compiler_line(const struct compiler_wishes *w, int count, char **arguments, struct arena *arena,
                  char ***ret_line, struct err *err);

#endif

/* runtime_heap.h: recognise language runtimes that manage their objects themselves, so that blocks
 * from malloc are not the program's objects. */
#ifndef SYMBOL_RUNTIME_HEAP_H
#define SYMBOL_RUNTIME_HEAP_H

#include "base/base.h"
#include "util/arena.h"

/* Section of Go programs, which stripping keeps. */
#define GO_SECTION ".go.buildinfo"

struct runtime_heap {
    const char *name;
    const char *symbols[3];  // Functions that only this runtime defines, then NULL.
    const char *section;     // Section that only its programs have; NULL = none.
    const char *commands[3]; // Names of programs that load the runtime, as globs, then NULL.
    const char *fact;        // A sentence on the place of the runtime's objects, without a period.
    const char *remedy;      // Clause that names a tried remedy; NULL = none.
    // With this variable in the environment, or this text in the command, the runtime uses malloc;
    // NULL = none.
    const char *variable, *arguments;
};

/* Return the runtime that the file at PATH contains; NULL if there is none, or if the file cannot
 * be read. */
const struct runtime_heap *runtime_heap_in(const char *path);

/* Return the runtime that the program EXECUTABLE is: it contains the runtime, or is a command that
 * loads the runtime. Return NULL if there is none. */
const struct runtime_heap *runtime_heap_of_program(const char *executable);

/* Return a set of the runtimes whose variable is in the environment of process PID (0 = of this
 * process). The set is empty if the process has ended. */
uint32_t runtime_heap_variables(uint32_t pid);

/* Return true if R uses malloc in a process with COMMAND and VARIABLES, a result of
 * runtime_heap_variables. */
bool runtime_heap_uses_malloc(const struct runtime_heap *r, const char *command,
                              uint32_t variables);

/* Return the fact about R, with the remedy if there is one. From ARENA. */
const char *runtime_heap_text(const struct runtime_heap *r, struct arena *arena);

#endif

/* debuginfo.h: functions, inlined calls and lines out of one file's DWARF. Includes elfutils'
 * headers: for dwfl.c and debuginfo.c only.
 */
#ifndef SYMBOL_DEBUGINFO_H
#define SYMBOL_DEBUGINFO_H

#include <elfutils/libdw.h>

#include "symbol/symbol_frame.h"
#include "util/arena.h"

/* A frame as DWARF has it. `function` is a name with its scopes but without parameters; `linkage`
 * is NULL where the compiler left it out (functions local to a C++ file), and then `entry` helps:
 * the symbol at that address is the function's. */
struct debug_frame {
    struct symbol_frame frame;
    uint64_t entry; // First address of the function's own code; 0 = it has none or it is not known.
};

struct debuginfo;

/* Read the table of units of DWARF, which must stay open and whose file is in DIRECTORY. NULL there
 * leaves split units out, because the file names other files and is not to be trusted with that.
 * Owned; what it gives out is from ARENA or DWARF. */
struct debuginfo *debuginfo_open(Dwarf *dwarf, const char *directory, struct arena *arena);
void debuginfo_close(struct debuginfo *d);

/* Whether any unit covers any code. */
bool debuginfo_has_code(const struct debuginfo *d);

/* The frames at PC (in the terms of DWARF's file), innermost first; 0 if no unit covers it. A
 * single frame without function has only a line (assembler sources). */
size_t debuginfo_frames(struct debuginfo *d, uint64_t pc,
                        struct debug_frame frames[SYMBOL_FRAMES_MAX]);

#endif

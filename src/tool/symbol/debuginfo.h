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

/* The DIEs of those frames, innermost first: inlined calls, then the function. 0 if no function
 * covers PC. */
size_t debuginfo_scopes(struct debuginfo *d, uint64_t pc, Dwarf_Die scopes[SYMBOL_FRAMES_MAX]);

/* The name of DIE, a type or function, with its scopes; NULL if it has none. */
const char *debuginfo_name(struct debuginfo *d, Dwarf_Die *die);

/* The source file that ATTRIBUTE (DW_AT_decl_file, …) of DIE names, or NULL. */
const char *debuginfo_file(struct debuginfo *d, Dwarf_Die *die, unsigned attribute);

/* The units in the file, type units and shared parts too; of a split one the part with the types.
 */
size_t debuginfo_unit_count(const struct debuginfo *d);
Dwarf_Die debuginfo_unit(struct debuginfo *d, size_t index);

/* The unit that DIE lies in: its DIE. False if DIE is damaged. */
bool debuginfo_unit_of(struct debuginfo *d, Dwarf_Die *die, Dwarf_Die *ret);

/* Whether names in the unit DIE (or the unit that DIE lies in) have scopes: not in C. */
bool debuginfo_has_scopes(struct debuginfo *d, Dwarf_Die *die);

#endif

/* debuginfo.h: find functions, inlined calls and lines in one file's DWARF. Includes elfutils'
 * headers: only for dwfl.c and debuginfo.c.
 */
#ifndef SYMBOL_DEBUGINFO_H
#define SYMBOL_DEBUGINFO_H

#include <elfutils/libdw.h>

#include "symbol/symbol_frame.h"
#include "util/arena.h"

/* A frame from DWARF. `function` has its scopes but no parameters. `linkage` is NULL if the
 * compiler omitted it (functions local to a C++ file). Then the symbol at `entry` has the
 * function's linkage name. */
struct debug_frame {
    struct symbol_frame frame;
    uint64_t entry; // First address of the function's user code; 0 = none or unknown.
};

struct debuginfo;

/* Read DWARF's table of units. DWARF must stay open until debuginfo_close. DIRECTORY has the file;
 * NULL disables split units, for files that must not refer to other files. Never returns NULL. The
 * caller closes the result. Results live as long as ARENA and DWARF. */
struct debuginfo *debuginfo_open(Dwarf *dwarf, const char *directory, struct arena *arena);

/* Close D, which may be NULL. */
void debuginfo_close(struct debuginfo *d);

/* Return true if any unit covers any code. */
bool debuginfo_has_code(const struct debuginfo *d);

/* Store the frames at PC, an address in DWARF's file, innermost first. Return their number; 0 if no
 * unit covers PC. A single frame without a function has only a line (assembler sources). */
size_t debuginfo_frames(struct debuginfo *d, uint64_t pc,
                        struct debug_frame frames[SYMBOL_FRAMES_MAX]);

/* Store the DIEs of those frames, innermost first: inlined calls, then the function. Return their
 * number; 0 if no function covers PC. */
size_t debuginfo_scopes(struct debuginfo *d, uint64_t pc, Dwarf_Die scopes[SYMBOL_FRAMES_MAX]);

/* Return the name of DIE, a type or function, with its scopes; NULL if it has none. */
const char *debuginfo_name(struct debuginfo *d, Dwarf_Die *die);

/* Return the source file that ATTRIBUTE (DW_AT_decl_file, …) of DIE names, or NULL. */
const char *debuginfo_file(struct debuginfo *d, Dwarf_Die *die, unsigned attribute);

/* Return the number of units in the file, including type units and shared parts; or return the DIE
 * of the unit at INDEX. For a split unit it is the half with the types. */
size_t debuginfo_unit_count(const struct debuginfo *d);
Dwarf_Die debuginfo_unit(struct debuginfo *d, size_t index);

/* Set *RET to the DIE of the unit that contains DIE. Return false if DIE is damaged. */
bool debuginfo_unit_of(struct debuginfo *d, Dwarf_Die *die, Dwarf_Die *ret);

/* Set *RET to the unit that DIE imports. Return false if there is none. */
bool debuginfo_imported(Dwarf_Die *die, Dwarf_Die *ret);

/* Return true if names have scopes in the unit of DIE, which may be the unit's DIE. In C they have
 * none. */
bool debuginfo_has_scopes(struct debuginfo *d, Dwarf_Die *die);

/* Iterate over DIEs in section order. debuginfo_child stores the first child of PARENT in *RET, and
 * debuginfo_next replaces DIE by its next sibling. Both return false if there is none, or if it
 * does not lie after *LAST, the latest DIE of the walk, which both functions maintain. *LAST is 0
 * before the first call. In a damaged file a DIE's sibling may be its child; without this check,
 * each level of a walk would visit everything below it twice. */
bool debuginfo_child(Dwarf_Die *parent, Dwarf_Die *ret, uintptr_t *last);
bool debuginfo_next(Dwarf_Die *die, uintptr_t *last);

#endif

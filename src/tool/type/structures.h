/* structures.h: find the members of the structures that a profile's blocks have as types. */
#ifndef TYPE_STRUCTURES_H
#define TYPE_STRUCTURES_H

#include "profile/profile.h"
#include "symbol/symbol.h"
#include "type/type_die.h"

/* Add the structures NAMES (string ids) to P if debug information has them. Missing ones are not a
 * failure. P must be symbolised. Call once. */
void symbol_structures(struct profile *p, const struct symbol_options *options,
                       const uint32_t *names, size_t count);

/* --- variable_members.c: the members of a variable. */

/* Find the variable at ADDRESS of the process, in MODULE of P. Store its type and the place of
 * ADDRESS in it in *RET. Return false if debug information has no such variable. P must be
 * symbolised. */
bool symbol_variable_members(struct profile *p, const struct symbol_options *options,
                             uint32_t module, uint64_t address, struct variable_members *ret);

/* --- structure_die.c: read the members of a structure from DWARF. Includes elfutils' headers. */

/* Fill *RET, except its name, with the members of AGGREGATE, a complete structure, union or class.
 * Strings and members belong to P. Return false if AGGREGATE has no size, or more than 1 MiB. */
bool structure_read(struct type_dies *dies, Dwarf_Die *aggregate, struct profile *p,
                    struct profile_structure *ret);

#endif

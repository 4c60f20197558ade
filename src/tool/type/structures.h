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

/* --- structure_die.c: read the members of a structure from DWARF. Includes elfutils' headers. */

/* Fill *RET, except its name, with the members of AGGREGATE, a complete structure, union or class.
 * Strings and members belong to P. Return false if AGGREGATE has no size, or more than 1 MiB. */
bool structure_read(struct type_dies *dies, Dwarf_Die *aggregate, struct profile *p,
                    struct profile_structure *ret);

#endif

/* structure_die.h: read the members of a structure from DWARF. Includes elfutils' headers. */
#ifndef TYPE_STRUCTURE_DIE_H
#define TYPE_STRUCTURE_DIE_H

#include "profile/profile.h"
#include "type/type_die.h"

/* Fill *RET, except its name, with the members of AGGREGATE, a complete structure, union or class.
 * Strings and members belong to P. Return false if AGGREGATE has no size, or more than 1 MiB. */
bool structure_read(struct type_dies *dies, Dwarf_Die *aggregate, struct profile *p,
                    struct profile_structure *ret);

#endif

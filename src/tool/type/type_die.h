/* type_die.h: properties of a DIE that is a type. Includes elfutils' headers. */
#ifndef TYPE_TYPE_DIE_H
#define TYPE_TYPE_DIE_H

#include "symbol/debuginfo.h"
#include "type/type_fact.h"
#include "util/map.h"

/* Replace DIE by its next sibling. Return false after the last. Never moves backwards, even in a
 * damaged file. Walks that enter children use debuginfo_next instead. */
bool type_die_next(Dwarf_Die *die);

/* Return DIE; or, if DIE refers to a type in a separate type unit, that type. */
Dwarf_Die type_die_follow(const Dwarf_Die *die);

/* Data about a module for the functions below; initialise as {d, arena}. */
struct type_dies {
    struct debuginfo *d;
    struct arena *arena; // Memory for results.
    bool collected;      // `names` and the rest are filled in.
    struct strtab names; // Names, with scopes, of complete aggregates.
    struct map by_name;  // Name's id to index + 1.
    Dwarf_Die *v;
    size_t count, capacity;
};

/* Free all data outside of the arena. */
void type_dies_release(struct type_dies *dies);

/* Set *RET to the type of DIE (a variable, a member, a pointer, a function), with qualifiers and
 * typedefs. Return false if it has none, which is C's void. */
bool type_die_of(Dwarf_Die *die, Dwarf_Die *ret);

/* Set *RET to TYPE without qualifiers and typedefs. Return false if the result is void. */
bool type_die_peel(Dwarf_Die *type, Dwarf_Die *ret);

/* Replace TYPE, a typedef or a qualifier, by its target. Return false for other types. */
bool type_die_unwrap(Dwarf_Die *type);

/* Set *RET to the target of TYPE, a reference. Return false for other types. */
bool type_die_referred(Dwarf_Die *type, Dwarf_Die *ret);

/* Set *RET to the target of TYPE, a pointer. Return false for other types and pointers to void. */
bool type_die_pointee(Dwarf_Die *type, Dwarf_Die *ret);

/* Return true if TYPE is a pointer to void. */
bool type_die_is_void_pointer(Dwarf_Die *type);

/* Return true if TYPE, or a type with the tag TAG, is a structure, union or class. */
bool type_die_is_aggregate(Dwarf_Die *type);
bool type_die_is_aggregate_tag(int tag);

/* If DIE is a declaration, replace it by the complete aggregate, if there is one. */
void type_die_complete(struct type_dies *dies, Dwarf_Die *die);

/* Set *RET to the type of the member NAME (LENGTH bytes) of the aggregate TYPE, of a base, or of an
 * anonymous member. Return false if there is none. An aggregate that the unit only declares is
 * searched in other units. */
bool type_die_member(struct type_dies *dies, Dwarf_Die *type, const char *name, size_t length,
                     Dwarf_Die *ret);

/* Return a name for an anonymous structure without a typedef. From ARENA. */
const char *type_die_anonymous_name(struct debuginfo *d, Dwarf_Die *die, struct arena *arena);

/* Return the size of an object of TYPE; 0 if TYPE is incomplete or not an object type. */
uint64_t type_die_size(Dwarf_Die *type);

/* Return true if objects of TYPE have size 0: an array of open length, or a C structure without
 * members.
 */
bool type_die_is_empty(struct type_dies *dies, Dwarf_Die *type);

/* Set RET to the name, size and kind of TYPE, and its other fields to zero. Return false if TYPE is
 * incomplete in all units, or not an object type. */
bool type_die_describe(struct type_dies *dies, Dwarf_Die *type, struct type_fact *ret);

#endif

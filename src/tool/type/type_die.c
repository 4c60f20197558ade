/* type_die.c: DWARF types: pointers, names, sizes, members.
 *
 * A type is named as in a declaration: "foo", "char", "foo *", "int[4]". A structure has its tag
 * name, even if a typedef refers to it, so that each structure is one row. Any other type (uint8_t)
 * has the name in the declaration.
 *
 * A unit may only declare a class that another unit defines: compilers define a class with virtual
 * functions in the unit that has its vtable. The first such declaration triggers an index of all
 * complete aggregates by name.
 *
 * Chains of references are limited, because a forged file may have cycles. */
#include "type/type_die.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

enum { CHAIN_MAX = 16, POINTER_BYTES = 8, MEMBERS_MAX = 10000 };

bool
type_die_of(Dwarf_Die *die, Dwarf_Die *ret)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(die, DW_AT_type, &attribute) != NULL &&
           dwarf_formref_die(&attribute, ret) != NULL;
}

bool
type_die_next(Dwarf_Die *die)
{
    Dwarf_Die next;

    if (dwarf_siblingof(die, &next) != 0 || (uintptr_t)next.addr <= (uintptr_t)die->addr)
        return false;
    *die = next;
    return true;
}

Dwarf_Die
type_die_follow(const Dwarf_Die *die)
{
    Dwarf_Die from = *die;
    Dwarf_Attribute attribute;
    Dwarf_Die type;

    return dwarf_attr(&from, DW_AT_signature, &attribute) != NULL &&
                   dwarf_formref_die(&attribute, &type) != NULL
               ? type
               : from;
}

static bool
is_qualifier(int tag)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type;
}

static bool
is_reference(int tag)
{
    return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

/* Set *RET to TYPE without its outer qualifiers and, if TYPEDEFS, without typedefs. */
static bool
strip(Dwarf_Die *type, bool typedefs, Dwarf_Die *ret)
{
    Dwarf_Die die = *type;

    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        int tag = dwarf_tag(&die);

        if (!is_qualifier(tag) && !(typedefs && tag == DW_TAG_typedef)) {
            *ret = die;
            return true;
        }
        if (!type_die_of(&die, &die))
            return false;
    }
    return false;
}

bool
type_die_peel(Dwarf_Die *type, Dwarf_Die *ret)
{
    return strip(type, true, ret);
}

bool
type_die_unwrap(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);

    return (is_qualifier(tag) || tag == DW_TAG_typedef) && type_die_of(type, type);
}

bool
type_die_referred(Dwarf_Die *type, Dwarf_Die *ret)
{
    Dwarf_Die reference;

    return strip(type, true, &reference) && is_reference(dwarf_tag(&reference)) &&
           type_die_of(&reference, ret);
}

bool
type_die_pointee(Dwarf_Die *type, Dwarf_Die *ret)
{
    Dwarf_Die pointer;
    Dwarf_Die ignored;

    if (!strip(type, true, &pointer) || dwarf_tag(&pointer) != DW_TAG_pointer_type ||
        !type_die_of(&pointer, ret))
        return false;
    // A pointer to const void counts as a pointer to void.
    return strip(ret, true, &ignored);
}

bool
type_die_is_void_pointer(Dwarf_Die *type)
{
    Dwarf_Die pointer;
    Dwarf_Die ignored;

    return strip(type, true, &pointer) && dwarf_tag(&pointer) == DW_TAG_pointer_type &&
           !type_die_pointee(&pointer, &ignored);
}

bool
type_die_is_aggregate_tag(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

bool
type_die_is_aggregate(Dwarf_Die *type)
{
    Dwarf_Die die;

    return strip(type, true, &die) && type_die_is_aggregate_tag(dwarf_tag(&die));
}

void
type_dies_release(struct type_dies *dies)
{
    strtab_release(&dies->names);
    map_release(&dies->by_name);
}

static void
add_definition(struct type_dies *dies, const char *prefix, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    bool is_new;
    uint64_t *index;

    if (name == NULL || dwarf_hasattr(die, DW_AT_declaration))
        return;
    // The type may be in a separate type unit, outside of its scope.
    if (dwarf_hasattr(die, DW_AT_specification))
        name = debuginfo_name(dies->d, die);
    else if (*prefix != '\0')
        name = arena_printf(dies->arena, "%s%s", prefix, name);
    index = map_put(&dies->by_name, strtab_id(&dies->names, name), &is_new);
    if (!is_new)
        return;
    arena_grow(dies->arena, &dies->v, &dies->capacity, dies->count, sizeof *dies->v);
    dies->v[dies->count++] = *die;
    *index = dies->count;
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
type_die_collect(struct type_dies *dies, Dwarf_Die *parent, const char *prefix, uintptr_t *last,
                 unsigned depth)
{
    Dwarf_Die die;

    if (depth > CHAIN_MAX || !debuginfo_child(parent, &die, last))
        return;
    do {
        int tag = dwarf_tag(&die);
        const char *name = dwarf_diename(&die);

        if (type_die_is_aggregate_tag(tag))
            add_definition(dies, prefix, &die);
        else if (tag == DW_TAG_namespace)
            type_die_collect(dies, &die,
                             arena_printf(dies->arena, "%s%s::", prefix,
                                          name != NULL ? name : "(anonymous namespace)"),
                             last, depth + 1);
    } while (debuginfo_next(&die, last));
}

void
type_die_complete(struct type_dies *dies, Dwarf_Die *die)
{
    const char *name;
    const uint64_t *index;

    *die = type_die_follow(die);
    if (!type_die_is_aggregate_tag(dwarf_tag(die)) || !dwarf_hasattr(die, DW_AT_declaration))
        return;
    if (!dies->collected) {
        dies->collected = true;
        for (size_t i = 0; i < debuginfo_unit_count(dies->d); i++) {
            Dwarf_Die unit = debuginfo_unit(dies->d, i);
            uintptr_t last = 0;

            if (unit.addr != NULL)
                type_die_collect(dies, &unit, "", &last, 0);
        }
    }
    name = debuginfo_name(dies->d, die);
    index = name != NULL ? map_get(&dies->by_name, strtab_id(&dies->names, name)) : NULL;
    if (index != NULL && *index != 0)
        *die = dies->v[*index - 1];
}

/* Implement type_die_member. LEFT limits the number of members examined, because a forged type may
 * contain itself many times. */
static bool
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
find_member(struct type_dies *dies, Dwarf_Die *type, const char *name, size_t length,
            unsigned depth, unsigned *left, Dwarf_Die *ret)
{
    Dwarf_Die aggregate;
    Dwarf_Die die;

    if (depth > CHAIN_MAX || !strip(type, true, &aggregate))
        return false;
    type_die_complete(dies, &aggregate);
    if (dwarf_child(&aggregate, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        const char *own = dwarf_diename(&die);
        Dwarf_Die member;

        if (*left == 0 || --*left == 0)
            return false;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type_die_of(&die, &member))
            continue;
        if (own != NULL && strlen(own) == length && memcmp(own, name, length) == 0) {
            *ret = member;
            return true;
        }
        if ((tag == DW_TAG_inheritance || own == NULL) &&
            find_member(dies, &member, name, length, depth + 1, left, ret))
            return true;
    } while (type_die_next(&die));
    return false;
}

bool
type_die_member(struct type_dies *dies, Dwarf_Die *type, const char *name, size_t length,
                Dwarf_Die *ret)
{
    unsigned left = MEMBERS_MAX;

    return find_member(dies, type, name, length, 0, &left, ret);
}

/* Return the number of elements of ARRAY; 0 if its length is open. */
static uint64_t
element_count(Dwarf_Die *array)
{
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    Dwarf_Word value;
    uint64_t count = 1;

    if (dwarf_child(array, &die) != 0)
        return 0;
    do {
        if (dwarf_tag(&die) != DW_TAG_subrange_type)
            continue;
        if (dwarf_attr(&die, DW_AT_count, &attribute) != NULL &&
            dwarf_formudata(&attribute, &value) == 0)
            count *= value;
        else if (dwarf_attr(&die, DW_AT_upper_bound, &attribute) != NULL &&
                 dwarf_formudata(&attribute, &value) == 0)
            count *= value + 1;
        else
            return 0;
    } while (type_die_next(&die));
    return count;
}

/* Return true if the last member of AGGREGATE is an array of length 0, 1 or open, or a structure
 * that ends with one. Set *RET_OFFSET to the offset of the array. */
static bool
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
has_tail(Dwarf_Die *aggregate, unsigned depth, uint64_t *ret_offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    Dwarf_Die die;
    Dwarf_Die last;
    Dwarf_Die type;
    bool found = false;

    if (depth > CHAIN_MAX || dwarf_child(aggregate, &die) != 0)
        return false;
    do {
        if (dwarf_tag(&die) != DW_TAG_member || dwarf_hasattr(&die, DW_AT_external))
            continue;
        found = true;
        last = die;
    } while (type_die_next(&die));
    if (!found || !type_die_of(&last, &type) || !strip(&type, true, &type))
        return false;
    if (dwarf_attr(&last, DW_AT_data_member_location, &attribute) != NULL &&
        dwarf_formudata(&attribute, &offset) != 0)
        return false;
    *ret_offset += offset;
    if (type_die_is_aggregate_tag(dwarf_tag(&type)))
        return has_tail(&type, depth + 1, ret_offset);
    return dwarf_tag(&type) == DW_TAG_array_type && element_count(&type) <= 1;
}

/* Return true if DIE, a pointer or reference of any kind, refers to a function. */
static bool
leads_to_function(Dwarf_Die *die)
{
    Dwarf_Die target;

    return type_die_of(die, &target) && strip(&target, true, &target) &&
           dwarf_tag(&target) == DW_TAG_subroutine_type;
}

/* Implement type_die_size. The sizes of arrays, pointers and references are computed, because some
 * compilers omit them. */
static uint64_t
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
size_of(Dwarf_Die *type, unsigned depth)
{
    Dwarf_Die die;
    Dwarf_Die element;
    Dwarf_Attribute attribute;
    Dwarf_Word size;

    if (depth > CHAIN_MAX || !strip(type, true, &die))
        return 0;
    if (dwarf_attr(&die, DW_AT_byte_size, &attribute) != NULL)
        return dwarf_formudata(&attribute, &size) == 0 ? size : 0;
    switch (dwarf_tag(&die)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return POINTER_BYTES;
    case DW_TAG_ptr_to_member_type: // For functions, a pointer to member includes the adjustment of
                                    // "this".
        return leads_to_function(&die) ? 2 * POINTER_BYTES : POINTER_BYTES;
    case DW_TAG_array_type:
        return type_die_of(&die, &element) ? element_count(&die) * size_of(&element, depth + 1) : 0;
    default:
        return 0;
    }
}

uint64_t
type_die_size(Dwarf_Die *type)
{
    return size_of(type, 0);
}

bool
type_die_is_empty(struct type_dies *dies, Dwarf_Die *type)
{
    Dwarf_Die die = *type;
    Dwarf_Attribute attribute;
    Dwarf_Word size;

    for (unsigned i = 0; i < CHAIN_MAX && strip(&die, true, &die); i++) {
        type_die_complete(dies, &die);
        if (dwarf_attr(&die, DW_AT_byte_size, &attribute) != NULL)
            return dwarf_formudata(&attribute, &size) == 0 && size == 0;
        if (dwarf_tag(&die) != DW_TAG_array_type)
            return false;
        if (element_count(&die) == 0)
            return true;
        if (!type_die_of(&die, &die))
            return false;
    }
    return false;
}

const char *
type_die_anonymous_name(struct debuginfo *d, Dwarf_Die *die, struct arena *arena)
{
    const char *file = debuginfo_file(d, die, DW_AT_decl_file);
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;
    int line = 0;

    if (file == NULL || dwarf_decl_line(die, &line) != 0)
        return "(anonymous)";
    return arena_printf(arena, "(anonymous, %s:%d)", slash != NULL ? slash + 1 : file, line);
}

static const char *name_of(struct debuginfo *d, Dwarf_Die *type, struct arena *arena,
                           unsigned depth);

/* Return the name of the aggregate DIE. NAMED is the typedef that refers to it, or NULL. */
static const char *
aggregate_name(struct debuginfo *d, Dwarf_Die *die, Dwarf_Die *named, struct arena *arena)
{
    const char *name = debuginfo_name(d, die);

    if (dwarf_diename(die) == NULL)
        name = named != NULL ? debuginfo_name(d, named) : type_die_anonymous_name(d, die, arena);
    return name != NULL ? name : "(anonymous)";
}

static const char *
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
array_name(struct debuginfo *d, Dwarf_Die *array, struct arena *arena, unsigned depth)
{
    uint64_t count = element_count(array);
    Dwarf_Die element;
    const char *name =
        type_die_of(array, &element) ? name_of(d, &element, arena, depth + 1) : "void";

    return count != 0 ? arena_printf(arena, "%s[%" PRIu64 "]", name, count)
                      : arena_printf(arena, "%s[]", name);
}

/* Return the name of the target of DIE, a pointer or reference of any kind. */
static const char *
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
target_name(struct debuginfo *d, Dwarf_Die *die, struct arena *arena, unsigned depth)
{
    Dwarf_Die target;

    if (leads_to_function(die))
        return "function";
    return type_die_of(die, &target) ? name_of(d, &target, arena, depth + 1) : "void";
}

/* Return the name of a pointer to member, "long node::*". */
static const char *
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
member_pointer_name(struct debuginfo *d, Dwarf_Die *die, struct arena *arena, unsigned depth)
{
    Dwarf_Attribute attribute;
    Dwarf_Die class;
    const char *of = dwarf_attr(die, DW_AT_containing_type, &attribute) != NULL &&
                             dwarf_formref_die(&attribute, &class) != NULL
                         ? debuginfo_name(d, &class)
                         : NULL;

    return arena_printf(arena, "%s %s::*", target_name(d, die, arena, depth), of != NULL ? of : "");
}

static const char *
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
name_of(struct debuginfo *d, Dwarf_Die *type, struct arena *arena, unsigned depth)
{
    Dwarf_Die outer;
    Dwarf_Die die;

    if (depth > CHAIN_MAX || !strip(type, false, &outer) || !strip(&outer, true, &die))
        return "void";
    if (type_die_is_aggregate_tag(dwarf_tag(&die)))
        return aggregate_name(d, &die, dwarf_tag(&outer) == DW_TAG_typedef ? &outer : NULL, arena);
    if (dwarf_tag(&outer) == DW_TAG_typedef)
        return debuginfo_name(d, &outer);
    switch (dwarf_tag(&die)) {
    case DW_TAG_pointer_type:
        return arena_printf(arena, "%s *", target_name(d, &die, arena, depth));
    case DW_TAG_reference_type:
        return arena_printf(arena, "%s &", target_name(d, &die, arena, depth));
    case DW_TAG_rvalue_reference_type:
        return arena_printf(arena, "%s &&", target_name(d, &die, arena, depth));
    case DW_TAG_ptr_to_member_type:
        return member_pointer_name(d, &die, arena, depth);
    case DW_TAG_array_type:
        return array_name(d, &die, arena, depth);
    default:
        return dwarf_diename(&die) != NULL ? debuginfo_name(d, &die)
                                           : type_die_anonymous_name(d, &die, arena);
    }
}

bool
type_die_describe(struct type_dies *dies, Dwarf_Die *type, struct type_fact *ret)
{
    Dwarf_Die named = *type;
    Dwarf_Die die;
    uint64_t size;

    if (!strip(type, true, &die))
        return false;
    if (type_die_is_aggregate_tag(dwarf_tag(&die)) && dwarf_hasattr(&die, DW_AT_declaration)) {
        type_die_complete(dies, &die);
        named = die;
    }
    size = size_of(&die, 0);
    if (size == 0)
        return false;
    *ret = (struct type_fact){
        .name = name_of(dies->d, &named, dies->arena, 0),
        .size = size,
        .is_aggregate = type_die_is_aggregate_tag(dwarf_tag(&die)),
    };
    ret->has_tail = ret->is_aggregate && has_tail(&die, 0, &ret->tail_offset);
    return ret->name != NULL;
}

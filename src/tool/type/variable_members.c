/* variable_members.c: find the members of a variable of a program or library.
 *
 * No index leads from addresses to variables, so the units of the module are walked once. Only
 * variables outside of functions, in namespaces and in classes count, and static ones in functions:
 * others have no fixed address. */
#include "type/structures.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "symbol/dwfl.h"

enum { DEPTH_MAX = 8 };

struct finder {
    struct profile *p;
    struct type_dies dies;
    uint64_t address; // In the debug information.
    uintptr_t last;   // State of debuginfo_next.
    struct variable_members *ret;
    bool found;
};

/* Store the address of the variable DIE in *RET. Return false if it has no fixed one. */
static bool
fixed_address(Dwarf_Die *die, uint64_t *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_attr(die, DW_AT_location, &attribute) == NULL ||
        dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1 ||
        ops[0].atom != DW_OP_addr)
        return false;
    *ret = ops[0].number;
    return true;
}

/* Fill in the result from TYPE, the type of the variable. */
static void
describe(struct finder *f, Dwarf_Die *type)
{
    Dwarf_Die die = *type, element;

    if (!type_die_peel(&die, &die))
        return;
    if (dwarf_tag(&die) == DW_TAG_array_type && type_die_of(&die, &element) &&
        type_die_peel(&element, &element)) {
        f->ret->element_bytes = type_die_size(&element);
        die = element;
    }
    type_die_complete(&f->dies, &die);
    if (type_die_is_aggregate(&die) &&
        !structure_read(&f->dies, &die, f->p, &f->ret->structure))
        f->ret->structure = (struct profile_structure){0};
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
variables_walk(struct finder *f, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die, type;
    uint64_t start;

    if (depth > DEPTH_MAX || f->found || !debuginfo_child(parent, &die, &f->last))
        return;
    do {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_variable && fixed_address(&die, &start) && start <= f->address &&
            type_die_of(&die, &type) && f->address - start < type_die_size(&type)) {
            f->found = true;
            f->ret->off = f->address - start;
            describe(f, &type);
        } else if ((tag == DW_TAG_namespace || tag == DW_TAG_subprogram ||
                    tag == DW_TAG_lexical_block || type_die_is_aggregate_tag(tag)) &&
                   dwarf_haschildren(&die) > 0) {
            variables_walk(f, &die, depth + 1);
        }
    } while (!f->found && debuginfo_next(&die, &f->last));
}

bool
symbol_variable_members(struct profile *p, const struct symbol_options *options, uint32_t module,
                        uint64_t address, struct variable_members *ret)
{
    static const struct symbol_options defaults;
    struct symbol_paths paths = object_paths(p, options != NULL ? options : &defaults);
    struct object_failure ignored;
    struct object *o = object_open(&p->modules[module], &paths, &ignored);
    struct arena scratch = {0};
    struct finder f = {.p = p, .ret = ret};
    uint64_t bias = 0;

    *ret = (struct variable_members){0};
    if (o == NULL)
        return false;
    f.dies = (struct type_dies){.d = object_debuginfo(o, &bias), .arena = &scratch};
    f.address = address - p->modules[module].bias - bias;
    if (f.dies.d != NULL)
        for (size_t i = 0; i < debuginfo_unit_count(f.dies.d) && !f.found; i++) {
            Dwarf_Die unit = debuginfo_unit(f.dies.d, i);

            f.last = 0;
            if (unit.addr != NULL)
                variables_walk(&f, &unit, 0);
        }
    type_dies_release(&f.dies);
    object_close(o);
    arena_release(&scratch);
    return f.found;
}

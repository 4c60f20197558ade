/* structures.c: find structures by name in the debug information of a profile's modules.
 *
 * Queries use names as in the types of sites. Each module's units are walked once, and a DIE is
 * examined only if its name is the last part of a requested name. The program's module comes first,
 * then the others in the order of the profile. The first complete definition of a name is used.
 *
 * The walk opens debug information: members are not cached, unlike names. */
#include "type/structures.h"

#include <dwarf.h>
#include <string.h>

#include "symbol/dwfl.h"

enum { DEPTH_MAX = 16 };

struct finder {
    struct profile *p;
    struct type_dies dies;
    struct strtab ends;   // Last parts of the requested names.
    struct map by_end;    // Set of ids in `ends`.
    struct map wanted;    // String id in P to 1, or to 2 when the structure was found.
    size_t left;          // Number of names that are still to be found.
    size_t capacity;
    uintptr_t last; // State of debuginfo_next.
};

/* Return NAME without its scopes: the part after the last "::" outside of "<>". */
static const char *
last_part(const char *name)
{
    const char *last = name;
    unsigned depth = 0;

    for (const char *s = name; *s != '\0'; s++) {
        if (*s == '<')
            depth++;
        else if (*s == '>' && depth > 0)
            depth--;
        else if (depth == 0 && s[0] == ':' && s[1] == ':')
            last = s + 2;
    }
    return last;
}

/* Add the complete aggregate DIE if it is wanted. The source calls it by the name of NAMED. */
static void
try_die(struct finder *f, Dwarf_Die *die, Dwarf_Die *named)
{
    struct profile *p = f->p;
    const char *end = dwarf_diename(named), *name;
    uint64_t *wanted;
    uint32_t id;

    if (end == NULL || dwarf_hasattr(die, DW_AT_declaration) ||
        map_get(&f->by_end, strtab_id(&f->ends, end)) == NULL)
        return;
    name = debuginfo_name(f->dies.d, named);
    if (name == NULL)
        return;
    id = strtab_clean_id(&p->strings, name);
    wanted = map_get(&f->wanted, id);
    if (wanted == NULL || *wanted != 1)
        return;
    arena_grow(&p->arena, &p->structures, &f->capacity, p->structure_count,
               sizeof *p->structures);
    if (!structure_read(&f->dies, die, p, &p->structures[p->structure_count]))
        return;
    p->structures[p->structure_count++].name = id;
    *wanted = 2;
    f->left--;
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
structures_walk(struct finder *f, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die, type;

    if (depth > DEPTH_MAX || f->left == 0 || !debuginfo_child(parent, &die, &f->last))
        return;
    do {
        int tag = dwarf_tag(&die);

        if (type_die_is_aggregate_tag(tag))
            try_die(f, &die, &die);
        else if (tag == DW_TAG_typedef && type_die_of(&die, &type) &&
                 type_die_peel(&type, &type) && type_die_is_aggregate(&type) &&
                 dwarf_diename(&type) == NULL)
            try_die(f, &type, &die);
        if ((type_die_is_aggregate_tag(tag) || tag == DW_TAG_namespace || tag == DW_TAG_module ||
             tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block) &&
            dwarf_haschildren(&die) > 0)
            structures_walk(f, &die, depth + 1);
    } while (debuginfo_next(&die, &f->last));
}

static void
search_module(struct finder *f, const struct profile_module *m, const struct symbol_paths *paths)
{
    struct object_failure ignored;
    struct object *o = object_open(m, paths, &ignored);
    struct arena scratch = {0};
    uint64_t bias;

    if (o == NULL)
        return;
    f->dies = (struct type_dies){.d = object_debuginfo(o, &bias), .arena = &scratch};
    if (f->dies.d != NULL)
        for (size_t i = 0; i < debuginfo_unit_count(f->dies.d) && f->left > 0; i++) {
            Dwarf_Die unit = debuginfo_unit(f->dies.d, i);

            f->last = 0;
            if (unit.addr != NULL)
                structures_walk(f, &unit, 0);
        }
    type_dies_release(&f->dies);
    object_close(o);
    arena_release(&scratch);
}

void
symbol_structures(struct profile *p, const struct symbol_options *options, const uint32_t *names,
                  size_t count)
{
    static const struct symbol_options defaults;
    struct symbol_paths paths = object_paths(p, options != NULL ? options : &defaults);
    struct finder f = {.p = p, .capacity = p->structure_count};

    for (size_t i = 0; i < count; i++) {
        const char *name = profile_string(p, names[i]);

        if (*name == '\0' || map_get(&f.wanted, names[i]) != NULL)
            continue;
        *map_put(&f.wanted, names[i], NULL) = 1;
        map_put(&f.by_end, strtab_id(&f.ends, last_part(name)), NULL);
        f.left++;
    }
    for (int program = 1; program >= 0; program--)
        for (uint32_t i = 1; i < p->module_count && f.left > 0; i++)
            if (profile_is_program(p, i) == (program == 1) && p->modules[i].path[0] == '/')
                search_module(&f, &p->modules[i], &paths);
    strtab_release(&f.ends);
    map_release(&f.by_end);
    map_release(&f.wanted);
}

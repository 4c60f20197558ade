/* type_index.c: index every structure, union and class of a module by size.
 *
 * The walk visits all units. A type in many units is stored once: an entry is a pair of size and
 * name. Names are as in the source: with namespaces and enclosing types if the language has them,
 * without "struct". An anonymous structure is named by a typedef for it in the same scope or,
 * without one, by its position in the source. A typedef of a named structure is a separate entry,
 * unless it is a class member: those are aliases for use within templates, about ten per container.
 * Declarations are skipped, because they have no size.
 *
 * The walk enters functions, which may have local types. DIEs that cannot contain types are skipped
 * by their sibling attribute, if any.
 *
 * Units shared by several programs (dwz) are walked where a unit imports them. The depth is
 * limited, and the walk only moves forward. */
#include "type/type_module.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "type/type_die.h"
#include "util/ensure.h"
#include "util/strbuf.h"

enum { DEPTH_MAX = 64 };

struct walker {
    struct type_index *index;
    struct debuginfo *d;
    struct arena scratch;
    struct strbuf prefix; // Current scopes, each followed by "::".
    struct map known;     // Set of recorded types, by hash of name and size.
    struct map imported;  // Set of imported units, by address of the unit's DIE.
    struct map anonymous; // Address of an anonymous type's DIE to its size; 0 = named by a typedef.
    Dwarf_Die *unnamed;   // Anonymous types of the current unit.
    size_t unnamed_count, unnamed_capacity;
    uintptr_t last; // State of debuginfo_next.
    bool has_scopes; // Names in the current unit's language have scopes.
};

static void type_index_walk(struct walker *w, Dwarf_Die *parent, bool in_type, unsigned depth);

void
type_index_add(struct type_index *index, const char *name, uint64_t size)
{
    arena_grow(&index->arena, &index->v, &index->capacity, index->count, sizeof *index->v);
    index->v[index->count++] = (struct type_entry){strtab_id(&index->names, name), size};
}

static void
type_index_add_entry(struct walker *w, const char *name, uint64_t size)
{
    uint32_t id;
    bool is_new;

    if (size == 0 || size > UINT32_MAX)
        return;
    if (w->prefix.length > 0) {
        size_t length = w->prefix.length;

        strbuf_str(&w->prefix, name);
        id = strtab_id(&w->index->names, strbuf_text(&w->prefix));
        w->prefix.length = length;
        w->prefix.text[length] = '\0';
    } else {
        id = strtab_id(&w->index->names, name);
    }
    map_put(&w->known, size << 32 | id, &is_new);
    if (!is_new)
        return;
    arena_grow(&w->index->arena, &w->index->v, &w->index->capacity, w->index->count,
               sizeof *w->index->v);
    w->index->v[w->index->count++] = (struct type_entry){id, size};
}

/* Return the size of the complete aggregate DIE; 0 if it is only declared. */
static uint64_t
type_index_size_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word size;

    if (dwarf_attr(die, DW_AT_byte_size, &attribute) == NULL ||
        dwarf_formudata(&attribute, &size) != 0 || dwarf_hasattr(die, DW_AT_declaration))
        return 0;
    return size;
}

static void
add_aggregate(struct walker *w, Dwarf_Die *die, const char *name)
{
    uint64_t size = type_index_size_of(die);
    uint64_t *known;
    bool is_new;

    if (name != NULL) {
        type_index_add_entry(w, name, size);
        return;
    }
    known = map_put(&w->anonymous, (uintptr_t)die->addr, &is_new);
    // An earlier typedef has set the size to 0.
    if (is_new && size != 0) {
        *known = size;
        arena_grow(&w->scratch, &w->unnamed, &w->unnamed_capacity, w->unnamed_count,
                   sizeof *w->unnamed);
        w->unnamed[w->unnamed_count++] = *die;
    }
}

static void
add_typedef(struct walker *w, Dwarf_Die *die, bool in_type)
{
    const char *name = dwarf_diename(die);
    Dwarf_Die type;

    if (name == NULL || !type_die_of(die, &type) || !type_die_peel(&type, &type) ||
        !type_die_is_aggregate(&type))
        return;
    if (!dwarf_hasattr(&type, DW_AT_name))
        *map_put(&w->anonymous, (uintptr_t)type.addr, NULL) = 0;
    else if (in_type)
        return;
    type_index_add_entry(w, name, type_index_size_of(&type));
}

/* Add the anonymous types of the unit that no typedef has named. */
static void
add_unnamed(struct walker *w)
{
    for (size_t i = 0; i < w->unnamed_count; i++) {
        Dwarf_Die *die = &w->unnamed[i];
        const uint64_t *size = map_get(&w->anonymous, (uintptr_t)die->addr);

        if (size != NULL && *size != 0)
            type_index_add_entry(w, type_die_anonymous_name(w->d, die, &w->scratch), *size);
    }
    w->unnamed_count = 0;
}

/* Walk below DIE with NAME (NULL = none) appended to the scopes. */
static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
walk_in(struct walker *w, Dwarf_Die *die, const char *name, bool in_type, unsigned depth)
{
    size_t length = w->prefix.length;

    if (name != NULL && w->has_scopes) {
        strbuf_str(&w->prefix, name);
        strbuf_str(&w->prefix, "::");
    }
    type_index_walk(w, die, in_type, depth + 1);
    w->prefix.length = length;
    if (w->prefix.text != NULL)
        w->prefix.text[length] = '\0';
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
walk_imported(struct walker *w, Dwarf_Die *die, unsigned depth)
{
    uintptr_t last = w->last;
    Dwarf_Die unit;
    bool is_new;

    if (!debuginfo_imported(die, &unit))
        return;
    map_put(&w->imported, (uintptr_t)unit.addr, &is_new);
    if (!is_new)
        return;
    w->last = 0; // The imported unit is elsewhere in the section.
    walk_in(w, &unit, NULL, false, depth);
    w->last = last;
}

/* Visit an aggregate that is defined elsewhere than it is declared (type units). The declaration
 * has the scopes. */
static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
visit_outlying(struct walker *w, Dwarf_Die *die, unsigned depth)
{
    const char *name = debuginfo_name(w->d, die);
    struct strbuf outer = w->prefix;

    w->prefix = (struct strbuf){0};
    add_aggregate(w, die, name);
    walk_in(w, die, name != NULL ? name : "{unnamed}", true, depth);
    strbuf_release(&w->prefix);
    w->prefix = outer;
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
visit(struct walker *w, Dwarf_Die *die, bool in_type, unsigned depth)
{
    int tag = dwarf_tag(die);
    const char *name;

    switch (tag) {
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_class_type:
        name = dwarf_diename(die);
        if (dwarf_hasattr(die, DW_AT_specification)) {
            visit_outlying(w, die, depth);
            break;
        }
        add_aggregate(w, die, name);
        if (dwarf_haschildren(die) > 0)
            walk_in(w, die, name != NULL ? name : "{unnamed}", true, depth);
        break;
    case DW_TAG_typedef:
        add_typedef(w, die, in_type);
        break;
    case DW_TAG_namespace:
    case DW_TAG_module:
        name = dwarf_diename(die);
        walk_in(w, die, name != NULL ? name : "(anonymous namespace)", false, depth);
        break;
    case DW_TAG_subprogram:
        if (dwarf_haschildren(die) > 0)
            walk_in(w, die, dwarf_diename(die), false, depth);
        break;
    case DW_TAG_lexical_block:
        walk_in(w, die, NULL, false, depth);
        break;
    case DW_TAG_imported_unit:
        walk_imported(w, die, depth);
        break;
    default:
        break;
    }
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
type_index_walk(struct walker *w, Dwarf_Die *parent, bool in_type, unsigned depth)
{
    Dwarf_Die die;

    if (depth > DEPTH_MAX || !debuginfo_child(parent, &die, &w->last))
        return;
    do {
        visit(w, &die, in_type, depth);
    } while (debuginfo_next(&die, &w->last));
}

static int
type_index_compare(const void *left, const void *right, void *arg)
{
    const struct type_entry *a = left;
    const struct type_entry *b = right;
    const struct type_index *index = arg;

    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return strcmp(strtab_get(&index->names, a->name), strtab_get(&index->names, b->name));
}

static void
sort(struct type_index *index)
{
    if (index->count > 1)
        qsort_r(index->v, index->count, sizeof *index->v, type_index_compare, index);
}

void
type_index_build(struct type_index *index, struct debuginfo *d)
{
    struct walker w = {.index = index, .d = d};

    for (size_t i = 0; i < debuginfo_unit_count(d); i++) {
        Dwarf_Die unit = debuginfo_unit(d, i);
        bool is_new;

        if (unit.addr == NULL)
            continue;
        map_put(&w.imported, (uintptr_t)unit.addr, &is_new);
        if (!is_new)
            continue;
        w.has_scopes = debuginfo_has_scopes(d, &unit);
        w.last = 0;
        type_index_walk(&w, &unit, false, 0);
        add_unnamed(&w);
    }
    sort(index);
    map_release(&w.known);
    map_release(&w.imported);
    map_release(&w.anonymous);
    strbuf_release(&w.prefix);
    arena_release(&w.scratch);
    ENSURE_VALID(type_index_is_valid(index));
}

size_t
type_index_find(const struct type_index *index, uint64_t size)
{
    size_t low = 0;
    size_t high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (index->v[middle].size < size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void
type_index_release(struct type_index *index)
{
    strtab_release(&index->names);
    arena_release(&index->arena);
    *index = (struct type_index){0};
}

bool
type_index_is_valid(const struct type_index *index)
{
    if (!strtab_is_valid(&index->names))
        return false;
    for (size_t i = 0; i < index->count; i++) {
        const struct type_entry *e = &index->v[i];
        int order;

        VALID(e->name < index->names.count);          // The name was interned.
        VALID(e->size >= 1 && e->size <= UINT32_MAX); // Types of other sizes are not allocated.
        if (i == 0)
            continue;
        order = strcmp(index->names.strings[e[-1].name], index->names.strings[e->name]);
        VALID(e[-1].size <= e->size);              // Entries are sorted by size, for binary search.
        // Entries of one size are always in the same order.
        VALID(e[-1].size < e->size || order <= 0);
    }
    return true;
}

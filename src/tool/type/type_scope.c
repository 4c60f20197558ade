/* type_scope.c: resolve names in the source to types.
 *
 * A name may be a type or a variable. A unit's names are collected once, on the first query in it,
 * from its outer DIEs, its namespaces and its classes. Only the last part of a qualified name is
 * used. A function's variables are searched in the function each time, because they are few.
 *
 *     struct foo *        a type, perhaps with stars
 *     x->y.z[3], *x       an expression: a variable with members, indices and stars
 *
 * Other expressions (a call, arithmetic, a cast) have no result. Variables of inner blocks that
 * hide others of the same name are not distinguished.
 */
#include "type/type_scope.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "util/map.h"

enum { DEPTH_MAX = 32, EXPRESSION_MAX = 32 };

/* The names of one unit. */
struct unit_names {
    struct unit_names *next;
    struct strtab names;
    struct map types, variables; // Id of the name to index + 1.
    struct map imported;         // Addresses of collected units.
    uintptr_t last;              // State of debuginfo_next, while names are collected.
    Dwarf_Die *v;
    size_t count, capacity;
};

struct type_scopes {
    struct type_dies *dies;
    struct map units; // Address of a unit's DIE to its names.
    struct unit_names *all;
};

struct type_scopes *
type_scopes_new(struct type_dies *dies)
{
    struct type_scopes *s = xmalloc(sizeof *s);

    *s = (struct type_scopes){.dies = dies};
    return s;
}

void
type_scopes_free(struct type_scopes *s)
{
    if (s == NULL)
        return;
    for (struct unit_names *u = s->all; u != NULL; u = u->next) {
        strtab_release(&u->names);
        map_release(&u->types);
        map_release(&u->variables);
        map_release(&u->imported);
    }
    map_release(&s->units);
    free(s);
}

static void
type_scope_add_name(struct type_scopes *s, struct unit_names *u, struct map *map,
                    const Dwarf_Die *from)
{
    Dwarf_Die followed = type_die_follow(from);
    Dwarf_Die *die = &followed;
    const char *name = dwarf_diename(die);
    bool declared = dwarf_hasattr(die, DW_AT_declaration);
    bool is_new;
    uint64_t *index;

    if (name == NULL || (declared && dwarf_tag(die) == DW_TAG_variable))
        return;
    index = map_put(map, strtab_id(&u->names, name), &is_new);
    // In C a structure and a typedef may have the same name. The structure is preferred if it is
    // complete.
    if (!is_new && (declared || !type_die_is_aggregate(die)))
        return;
    arena_grow(s->dies->arena, &u->v, &u->capacity, u->count, sizeof *u->v);
    u->v[u->count++] = *die;
    *index = u->count;
}

static void collect_imported(struct type_scopes *s, struct unit_names *u, Dwarf_Die *die,
                             unsigned depth);

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
type_scope_collect(struct type_scopes *s, struct unit_names *u, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;

    if (depth > DEPTH_MAX || !debuginfo_child(parent, &die, &u->last))
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            type_scope_add_name(s, u, &u->types, &die);
            type_scope_collect(s, u, &die, depth + 1);
            break;
        case DW_TAG_namespace:
            type_scope_collect(s, u, &die, depth + 1);
            break;
        case DW_TAG_typedef:
        case DW_TAG_base_type:
        case DW_TAG_enumeration_type:
            type_scope_add_name(s, u, &u->types, &die);
            break;
        case DW_TAG_variable:
            type_scope_add_name(s, u, &u->variables, &die);
            break;
        case DW_TAG_imported_unit:
            collect_imported(s, u, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (debuginfo_next(&die, &u->last));
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
collect_imported(struct type_scopes *s, struct unit_names *u, Dwarf_Die *die, unsigned depth)
{
    uintptr_t last = u->last;
    Dwarf_Die unit;
    bool is_new;

    if (!debuginfo_imported(die, &unit))
        return;
    map_put(&u->imported, (uintptr_t)unit.addr, &is_new);
    if (!is_new)
        return;
    u->last = 0; // The imported unit is elsewhere in the section.
    type_scope_collect(s, u, &unit, depth);
    u->last = last;
}

static struct unit_names *
names_of_unit(struct type_scopes *s, Dwarf_Die *die)
{
    Dwarf_Die unit;
    struct unit_names *u;
    uint64_t *known;
    bool is_new;

    if (!debuginfo_unit_of(s->dies->d, die, &unit))
        return NULL;
    known = map_put(&s->units, (uintptr_t)unit.addr, &is_new);
    if (!is_new)
        return (struct unit_names *)(uintptr_t)*known;
    u = arena_alloc(s->dies->arena, sizeof *u);
    u->next = s->all;
    s->all = u;
    *known = (uintptr_t)u;
    type_scope_collect(s, u, &unit, 0);
    return u;
}

static bool
find_in_unit(struct type_scopes *s, Dwarf_Die *function, bool variable,
             const struct hint_token *name, Dwarf_Die *ret)
{
    struct unit_names *u = names_of_unit(s, function);
    char *copy;
    const uint64_t *index;

    if (u == NULL)
        return false;
    copy = arena_strndup(s->dies->arena, name->text, name->length);
    index = map_get(variable ? &u->variables : &u->types, strtab_id(&u->names, copy));
    if (index == NULL || *index == 0)
        return false;
    *ret = u->v[*index - 1];
    return true;
}

static bool
type_scope_is(const struct hint_token *t, const char *text)
{
    return strlen(text) == t->length && memcmp(t->text, text, t->length) == 0;
}

static bool
type_scope_is_named(Dwarf_Die *die, const struct hint_token *name)
{
    const char *own = dwarf_diename(die);

    return own != NULL && type_scope_is(name, own);
}

/* Set *RET to the type of the variable or parameter NAME below SCOPE. */
static bool
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
find_below(Dwarf_Die *scope, const struct hint_token *name, uintptr_t *last, unsigned depth,
           Dwarf_Die *ret)
{
    Dwarf_Die die;

    if (depth > DEPTH_MAX || !debuginfo_child(scope, &die, last))
        return false;
    do {
        int tag = dwarf_tag(&die);

        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
            type_scope_is_named(&die, name) && type_die_of(&die, ret))
            return true;
        if (tag == DW_TAG_lexical_block && find_below(&die, name, last, depth + 1, ret))
            return true;
    } while (debuginfo_next(&die, last));
    return false;
}

static bool
type_scope_find_local(Dwarf_Die *function, const struct hint_token *name, Dwarf_Die *ret)
{
    uintptr_t last = 0;

    return find_below(function, name, &last, 0, ret);
}

static bool
find_variable(struct type_scopes *s, Dwarf_Die *function, const struct hint_token *name,
              Dwarf_Die *ret)
{
    static const struct hint_token this = {.text = "this", .length = 4, .is_word = true};
    Dwarf_Die object;

    if (type_scope_find_local(function, name, ret))
        return true;
    if (type_scope_find_local(function, &this, &object) && type_die_pointee(&object, &object) &&
        type_die_member(s->dies, &object, name->text, name->length, ret))
        return true;
    return find_in_unit(s, function, true, name, &object) && type_die_of(&object, ret);
}

/* Set *RET to the type of an element of TYPE: the result of [] or *. */
static bool
element_of(Dwarf_Die *type, Dwarf_Die *ret)
{
    Dwarf_Die array;

    if (type_die_peel(type, &array) && dwarf_tag(&array) == DW_TAG_array_type)
        return type_die_of(&array, ret);
    return type_die_pointee(type, ret);
}

/* Replace TYPE, if it is a reference, by its target, because an expression never has a reference as
 * its type. */
static void
follow_reference(Dwarf_Die *type)
{
    Dwarf_Die referred;

    if (type_die_referred(type, &referred))
        *type = referred;
}

/* Apply the members and indices after a variable to its type *TYPE. */
static bool
apply_postfix(struct type_scopes *s, const struct hint_token *t, size_t count, Dwarf_Die *type)
{
    for (size_t i = 0; i < count; i++) {
        if (type_scope_is(&t[i], "->") || type_scope_is(&t[i], ".")) {
            Dwarf_Die object = *type;

            if (i + 1 == count || (type_scope_is(&t[i], "->") && !type_die_pointee(type, &object)))
                return false;
            i++;
            if (!type_die_member(s->dies, &object, t[i].text, t[i].length, type))
                return false;
            follow_reference(type);
        } else if (type_scope_is(&t[i], "[")) {
            while (i < count && !type_scope_is(&t[i], "]"))
                i++;
            if (i == count || !element_of(type, type))
                return false;
        } else {
            return false;
        }
    }
    return true;
}

/* Set *RET to the type of the expression T. */
static bool
find_expression(struct type_scopes *s, Dwarf_Die *function, const struct hint_token *t,
                size_t count, Dwarf_Die *ret)
{
    size_t stars = 0;

    while (count > 2 && type_scope_is(&t[0], "(") && type_scope_is(&t[count - 1], ")")) {
        t++;
        count -= 2;
    }
    while (stars < count && type_scope_is(&t[stars], "*"))
        stars++;
    if (stars == count || count > EXPRESSION_MAX || !t[stars].is_word ||
        !find_variable(s, function, &t[stars], ret))
        return false;
    follow_reference(ret);
    if (!apply_postfix(s, t + stars + 1, count - stars - 1, ret))
        return false;
    while (stars-- > 0)
        if (!element_of(ret, ret))
            return false;
    return true;
}

/* Return true if T is a word that may accompany the name of a type. */
static bool
is_filler(const struct hint_token *t)
{
    static const char *const words[] = {"struct", "union",    "class",    "enum", "const",
                                        "static", "volatile", "typename", "::",   "register"};

    for (size_t i = 0; i < countof(words); i++)
        if (type_scope_is(t, words[i]))
            return true;
    return false;
}

/* Return the word in T that names a type; NULL if there is none or more than one. */
static const struct hint_token *
type_word(const struct hint_token *t, size_t count)
{
    const struct hint_token *name = NULL;

    for (size_t i = 0; i < count; i++) {
        if (is_filler(&t[i]))
            continue;
        if (!t[i].is_word || (name != NULL && !(i > 0 && type_scope_is(&t[i - 1], "::"))))
            return NULL;
        name = &t[i];
    }
    return name;
}

/* Set *RET to the type that T names. Each "*" at the end of T makes it a pointer. */
static bool
find_type(struct type_scopes *s, Dwarf_Die *function, const struct hint_token *t, size_t count,
          struct type_fact *ret)
{
    const struct hint_token *name;
    size_t stars = 0;
    Dwarf_Die type;

    while (count > 0 && type_scope_is(&t[count - 1], "*")) {
        count--;
        stars++;
    }
    name = type_word(t, count);
    if (name == NULL || !find_in_unit(s, function, false, name, &type) ||
        !type_die_describe(s->dies, &type, ret))
        return false;
    for (; stars > 0; stars--)
        *ret =
            (struct type_fact){.name = arena_printf(s->dies->arena, "%s *", ret->name), .size = 8};
    return true;
}

/* Parse a declaration "struct foo * x": the words before the last one are the type. */
static bool
find_declared(struct type_scopes *s, Dwarf_Die *function, const struct hint_token *t, size_t count,
              struct type_fact *ret)
{
    return count > 2 && type_scope_is(&t[count - 2], "*") && t[count - 1].is_word &&
           find_type(s, function, t, count - 2, ret);
}

bool
type_scope_hint(struct type_scopes *s, Dwarf_Die *function, const struct type_hint *hint,
                struct type_fact *ret)
{
    const struct hint_token *t = hint->tokens;
    Dwarf_Die type;

    if (hint->kind != HINT_TARGET) {
        if (find_type(s, function, t, hint->count, ret))
            return true;
        return hint->kind == HINT_SIZEOF && find_expression(s, function, t, hint->count, &type) &&
               type_die_describe(s->dies, &type, ret);
    }
    if (find_declared(s, function, t, hint->count, ret))
        return true;
    // In a declaration, the stars belong to the type, and the last word is the variable.
    if (hint->count > 1 && t[hint->count - 1].is_word && t[0].is_word && t[1].is_word) {
        t += hint->count - 1;
        return find_expression(s, function, t, 1, &type) && type_die_pointee(&type, &type) &&
               type_die_describe(s->dies, &type, ret);
    }
    return find_expression(s, function, t, hint->count, &type) && type_die_pointee(&type, &type) &&
           type_die_describe(s->dies, &type, ret);
}

/* debuginfo.c: find the functions, inlined calls and lines of an address in DWARF.
 *
 * The convenience functions of libdw do not suffice. Its search for the unit of an address needs
 * .debug_aranges, which clang does not write, and its search for scopes does not enter namespaces.
 * Therefore this file builds three tables, each on first use:
 *
 *     all units      their code ranges                      once, when the file is opened
 *     one unit       the ranges of the functions            a walk over its outer DIEs
 *     one function   the chain of inlined calls             down the DIEs that cover an address
 *
 * A unit's walk has two depths. WALK_QUICK enters only namespaces and finds nearly every function.
 * WALK_FULL also enters types and functions (nested functions, methods of local classes). It runs
 * if the quick walk found nothing, or if a DIE's enclosing scopes are requested. DWARF has no
 * parent links. Therefore the full walk records the range of the section that each scope occupies,
 * and a DIE's scopes are those whose range contains it.
 *
 * Lines come from the unit's line table, which libdw decodes once. With split DWARF, the unit in
 * the file (the skeleton) has the ranges and lines, and the unit in the .dwo file has the
 * functions.
 *
 * The file is untrusted. A unit whose .dwo file is not a regular file is skipped, walks only move
 * forward, their depth is limited, and a damaged unit yields the part before the damage. Symbols
 * and load bias belong to dwfl.c. */
#include "symbol/debuginfo.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbol/demangle.h"
#include "symbol/ranges.h"
#include "util/map.h"
#include "util/path.h"

// Maximum nesting of DIEs. Compilers stay far below this; a forged file could nest without limit.
enum { WALK_DEPTH_MAX = 256 };

// Languages that old versions of libdw do not know.
enum { LANG_C_PLUS_PLUS_17 = 0x2a, LANG_C_PLUS_PLUS_20 = 0x2b, LANG_C17 = 0x2c };

enum walk {
    WALK_NONE = 0,
    WALK_QUICK,
    WALK_FULL,
};

struct function {
    Dwarf_Die die;
    void *origin;   // Address of the DIE of the abstract instance; NULL if there is none.
    uint64_t entry; // Lowest address of the first range.
};

/* A namespace, type or function, and the range [start, end) of .debug_info that it occupies
 * together with its children. */
struct scope {
    const void *start;
    const void *end; // NULL until the next sibling is known.
    Dwarf_Die die;
};

struct unit {
    Dwarf_Die die;  // DIE in .debug_info; has the lines.
    // DIE of the unit with its functions: equal to `die`, or the unit's half in the .dwo file.
    Dwarf_Die full;
    bool opened;    // True if full, files and directory are valid.
    enum walk walked;
    struct function *functions;
    size_t function_count, function_capacity;
    struct ranges function_ranges; // Ranges to indices of functions.
    // Address of an abstract instance's DIE to the index of the function.
    struct map origins;
    struct scope *scopes;          // Scopes by start; a full walk fills them in.
    size_t scope_count, scope_capacity;
    uintptr_t last; // State of debuginfo_next during a walk.
    Dwarf_Files *files;
    size_t file_count;
    const char *directory; // Compilation directory (DW_AT_comp_dir), or NULL.
};

struct debuginfo {
    struct arena *arena;
    const char *directory; // Directory of the file; NULL = ignore split units.
    struct unit **units;
    size_t unit_count, unit_capacity;
    struct ranges ranges; // Ranges to indices of units.
    struct map by_die;    // Address of a unit's DIE (both halves of a split one) to index + 1.
};

static bool may_follow_split(Dwarf_Die *die, const char *directory, struct arena *arena);
static struct unit *add_unit(struct debuginfo *d, const Dwarf_Die *die);
static void add_unit_ranges(struct debuginfo *d, uint32_t id);
static struct unit *debuginfo_find_unit(struct debuginfo *d, Dwarf_Die *die);
static void unit_open(struct debuginfo *d, struct unit *u);
static void unit_walk(struct debuginfo *d, struct unit *u, enum walk depth);
static struct function *debuginfo_find_function(struct debuginfo *d, struct unit *u, uint64_t pc);
static size_t inline_chain(Dwarf_Die *function, uint64_t pc, Dwarf_Die *chain);
static size_t make_frames(struct debuginfo *d, struct unit *u, struct function *f, uint64_t pc,
                          struct debug_frame *frames);
static bool line_frame(struct debuginfo *d, struct unit *u, uint64_t pc, struct symbol_frame *f);
static const char *absolute(struct debuginfo *d, const struct unit *u, const char *path);
static Dwarf_Die declaration_of(Dwarf_Die die);
static const char *qualified_name(struct debuginfo *d, Dwarf_Die *die);
static bool has_scopes(struct unit *u);

struct debuginfo *
debuginfo_open(Dwarf *dwarf, const char *directory, struct arena *arena)
{
    struct debuginfo *d = arena_alloc(arena, sizeof *d);
    Dwarf_CU *cu = NULL;
    Dwarf_CU *next;
    Dwarf_Die die;
    uint8_t type;

    d->arena = arena;
    d->directory = directory;
    while (dwarf_get_units(dwarf, cu, &next, NULL, &type, &die, NULL) == 0) {
        cu = next;
        if (die.addr == NULL ||
            (type == DW_UT_skeleton && !may_follow_split(&die, directory, arena)))
            continue;
        add_unit(d, &die);
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            add_unit_ranges(d, (uint32_t)d->unit_count - 1);
    }
    ranges_sort(&d->ranges, arena);
    return d;
}

void
debuginfo_close(struct debuginfo *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < d->unit_count; i++)
        map_release(&d->units[i]->origins);
    map_release(&d->by_die);
}

bool
debuginfo_has_code(const struct debuginfo *d)
{
    return d->ranges.count > 0;
}

size_t
debuginfo_frames(struct debuginfo *d, uint64_t pc, struct debug_frame frames[SYMBOL_FRAMES_MAX])
{
    size_t cursor = ranges_start(&d->ranges, pc);
    const struct range *r;
    size_t count = 0;

    while ((r = ranges_next(&d->ranges, pc, &cursor)) != NULL) {
        struct unit *u = d->units[r->id];
        struct function *f = debuginfo_find_function(d, u, pc);

        if (f != NULL)
            return make_frames(d, u, f, pc, frames);
        // Some units claim ranges of other units. Keep the line of this unit, but search further
        // units for a function.
        if (count == 0) {
            frames[0] = (struct debug_frame){0};
            count = line_frame(d, u, pc, &frames[0].frame);
        }
    }
    return count;
}

size_t
debuginfo_scopes(struct debuginfo *d, uint64_t pc, Dwarf_Die scopes[SYMBOL_FRAMES_MAX])
{
    size_t cursor = ranges_start(&d->ranges, pc);
    const struct range *r;

    while ((r = ranges_next(&d->ranges, pc, &cursor)) != NULL) {
        struct function *f = debuginfo_find_function(d, d->units[r->id], pc);
        Dwarf_Die chain[SYMBOL_FRAMES_MAX];
        size_t depth;

        if (f == NULL)
            continue;
        depth = inline_chain(&f->die, pc, chain);
        for (size_t i = 0; i < depth; i++)
            scopes[i] = chain[depth - 1 - i];
        scopes[depth] = f->die;
        return depth + 1;
    }
    return 0;
}

const char *
debuginfo_name(struct debuginfo *d, Dwarf_Die *die)
{
    return debuginfo_has_scopes(d, die) ? qualified_name(d, die) : dwarf_diename(die);
}

const char *
debuginfo_file(struct debuginfo *d, Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute file;
    Dwarf_Word index;
    Dwarf_Die holder = *die;
    struct unit *u;

    if (dwarf_attr_integrate(die, attribute, &file) == NULL || dwarf_formudata(&file, &index) != 0)
        return NULL;
    // The number is an index into the file table of the unit that has the attribute. An abstract
    // instance may be in another unit than DIE.
    if (dwarf_attr(die, attribute, &file) == NULL)
        holder = declaration_of(*die);
    u = debuginfo_find_unit(d, &holder);
    if (u == NULL)
        return NULL;
    unit_open(d, u);
    return index < u->file_count ? absolute(d, u, dwarf_filesrc(u->files, index, NULL, NULL))
                                 : NULL;
}

size_t
debuginfo_unit_count(const struct debuginfo *d)
{
    return d->unit_count;
}

Dwarf_Die
debuginfo_unit(struct debuginfo *d, size_t index)
{
    unit_open(d, d->units[index]);
    return d->units[index]->full;
}

bool
debuginfo_unit_of(struct debuginfo *d, Dwarf_Die *die, Dwarf_Die *ret)
{
    struct unit *u = debuginfo_find_unit(d, die);

    if (u == NULL)
        return false;
    unit_open(d, u);
    *ret = u->full;
    return true;
}

bool
debuginfo_imported(Dwarf_Die *die, Dwarf_Die *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Die target;
    Dwarf_Die unit;

    // In a damaged file, the attribute may refer to any other DIE, which would then be walked
    // again.
    if (dwarf_attr(die, DW_AT_import, &attribute) == NULL ||
        dwarf_formref_die(&attribute, &target) == NULL ||
        dwarf_diecu(&target, &unit, NULL, NULL) == NULL || unit.addr != target.addr)
        return false;
    *ret = unit;
    return true;
}

bool
debuginfo_has_scopes(struct debuginfo *d, Dwarf_Die *die)
{
    struct unit *u = debuginfo_find_unit(d, die);

    if (u == NULL)
        return false;
    unit_open(d, u);
    return has_scopes(u);
}

bool
debuginfo_child(Dwarf_Die *parent, Dwarf_Die *ret, uintptr_t *last)
{
    if (dwarf_child(parent, ret) != 0 || (uintptr_t)ret->addr <= *last)
        return false;
    *last = (uintptr_t)ret->addr;
    return true;
}

bool
debuginfo_next(Dwarf_Die *die, uintptr_t *last)
{
    Dwarf_Die next;

    if (dwarf_siblingof(die, &next) != 0 || (uintptr_t)next.addr <= *last)
        return false;
    *last = (uintptr_t)next.addr;
    *die = next;
    return true;
}

static struct unit *
add_unit(struct debuginfo *d, const Dwarf_Die *die)
{
    struct unit *u = arena_alloc(d->arena, sizeof *u);

    u->die = *die;
    arena_grow(d->arena, &d->units, &d->unit_capacity, d->unit_count, sizeof(struct unit *));
    d->units[d->unit_count++] = u;
    *map_put(&d->by_die, (uintptr_t)die->addr, NULL) = d->unit_count;
    return u;
}

/* Add the code ranges of DIE. Ranges of code that the linker removed are skipped: they begin at 0
 * or 1, or at the end of the address space, where they would cover other code. */
static void
add_die_ranges(struct debuginfo *d, Dwarf_Die *die, struct ranges *r, uint32_t id)
{
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    ptrdiff_t offset = 0;

    while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0)
        if (low > 1)
            ranges_add(r, d->arena, low, high, id);
}

static void
add_unit_ranges(struct debuginfo *d, uint32_t id)
{
    add_die_ranges(d, &d->units[id]->die, &d->ranges, id);
}

/* Return the unit that contains DIE. A unit that is not in the table is a part shared between files
 * (dwz), and is added. */
static struct unit *
debuginfo_find_unit(struct debuginfo *d, Dwarf_Die *die)
{
    Dwarf_Die cu;
    const uint64_t *index;

    if (dwarf_diecu(die, &cu, NULL, NULL) == NULL)
        return NULL;
    index = map_get(&d->by_die, (uintptr_t)cu.addr);
    return index != NULL ? d->units[*index - 1] : add_unit(d, &cu);
}

/* Return true if PATH is a regular file or absent. */
static bool
is_harmless(const char *path)
{
    struct stat st;
    int fd = regular_open(NULL, path, &st);

    if (fd >= 0)
        close(fd);
    return fd >= 0 || fd == -ENOENT || fd == -ENOTDIR;
}

/* Return true if libdw may search for the .dwo file of the skeleton DIE. libdw opens the file names
 * in DIE below DIRECTORY and below the compilation directory, without checking their types. */
static bool
may_follow_split(Dwarf_Die *die, const char *directory, struct arena *arena)
{
    static const unsigned names[] = {DW_AT_dwo_name, DW_AT_GNU_dwo_name};
    Dwarf_Attribute attribute;
    const char *compiled_in = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));

    if (directory == NULL)
        return false;
    for (size_t i = 0; i < countof(names); i++) {
        const char *name = dwarf_formstring(dwarf_attr(die, names[i], &attribute));

        if (name == NULL)
            continue;
        if (name[0] == '/' ? !is_harmless(name)
                           : !is_harmless(arena_printf(arena, "%s/%s", directory, name)))
            return false;
        if (name[0] != '/' && compiled_in != NULL &&
            (!is_harmless(arena_printf(arena, "%s/%s", compiled_in, name)) ||
             !is_harmless(arena_printf(arena, "%s/%s/%s", directory, compiled_in, name))))
            return false;
    }
    return true;
}

static void
unit_open(struct debuginfo *d, struct unit *u)
{
    Dwarf_Die split = {0};
    Dwarf_Attribute attribute;
    uint8_t type;

    if (u->opened)
        return;
    u->opened = true;
    u->full = u->die;
    if (dwarf_cu_info(u->die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && may_follow_split(&u->die, d->directory, d->arena) &&
        dwarf_cu_info(u->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
        split.addr != NULL) {
        uint64_t id = *map_get(&d->by_die, (uintptr_t)u->die.addr);

        u->full = split;
        *map_put(&d->by_die, (uintptr_t)split.addr, NULL) = id;
    }
    if (dwarf_getsrcfiles(&u->full, &u->files, &u->file_count) != 0 &&
        dwarf_getsrcfiles(&u->die, &u->files, &u->file_count) != 0)
        u->file_count = 0;
    u->directory = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &attribute));
}

static void *
debuginfo_origin_of(Dwarf_Die *die, unsigned attribute_name)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;

    if (dwarf_attr(die, attribute_name, &attribute) == NULL ||
        dwarf_formref_die(&attribute, &origin) == NULL)
        return NULL;
    return origin.addr;
}

static void
debuginfo_add_function(struct debuginfo *d, struct unit *u, Dwarf_Die *die)
{
    size_t before = u->function_ranges.count;
    struct function *f;
    bool is_new;
    uint64_t *index;

    add_die_ranges(d, die, &u->function_ranges, (uint32_t)u->function_count);
    if (u->function_ranges.count == before)
        return;
    arena_grow(d->arena, &u->functions, &u->function_capacity, u->function_count,
               sizeof *u->functions);
    f = &u->functions[u->function_count];
    f->die = *die;
    f->entry = u->function_ranges.v[before].low;
    f->origin = debuginfo_origin_of(die, DW_AT_abstract_origin);
    if (f->origin != NULL) {
        index = map_put(&u->origins, (uintptr_t)f->origin, &is_new);
        if (is_new)
            *index = u->function_count;
    }
    u->function_count++;
}

static bool
enters(enum walk depth, int tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
        return depth == WALK_FULL;
    default:
        return false;
    }
}

static void
add_scope(struct debuginfo *d, struct unit *u, Dwarf_Die *die)
{
    arena_grow(d->arena, &u->scopes, &u->scope_capacity, u->scope_count, sizeof *u->scopes);
    u->scopes[u->scope_count++] = (struct scope){.start = die->addr, .die = *die};
}

/* Set the end of the open scopes from index FIRST on to END, where FIRST's next sibling begins. */
static void
close_scopes(struct unit *u, size_t first, const void *end)
{
    for (size_t i = first; i < u->scope_count; i++)
        if (u->scopes[i].end == NULL)
            u->scopes[i].end = end;
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than WALK_DEPTH_MAX.
debuginfo_walk(struct debuginfo *d, struct unit *u, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;

    if (depth > WALK_DEPTH_MAX || !debuginfo_child(parent, &die, &u->last))
        return;
    for (;;) {
        int tag = dwarf_tag(&die);
        size_t first_scope = u->scope_count;

        if (tag == DW_TAG_subprogram)
            debuginfo_add_function(d, u, &die);
        if (enters(u->walked, tag)) {
            if (u->walked == WALK_FULL && tag != DW_TAG_lexical_block)
                add_scope(d, u, &die);
            debuginfo_walk(d, u, &die, depth + 1);
        }
        if (!debuginfo_next(&die, &u->last))
            return;
        close_scopes(u, first_scope, die.addr);
    }
}

/* Build U's table of functions with at least the given DEPTH. */
static void
unit_walk(struct debuginfo *d, struct unit *u, enum walk depth)
{
    unit_open(d, u);
    if (u->walked >= depth)
        return;
    u->walked = depth;
    u->last = 0;
    u->function_count = 0;
    u->function_ranges.count = 0;
    map_release(&u->origins);
    debuginfo_walk(d, u, &u->full, 0);
    ranges_sort(&u->function_ranges, d->arena);
}

static struct function *
debuginfo_find_function(struct debuginfo *d, struct unit *u, uint64_t pc)
{
    for (enum walk depth = WALK_QUICK; depth <= WALK_FULL; depth++) {
        const struct range *r;
        size_t cursor;

        unit_walk(d, u, depth);
        cursor = ranges_start(&u->function_ranges, pc);
        r = ranges_next(&u->function_ranges, pc, &cursor);
        if (r != NULL)
            return &u->functions[r->id];
    }
    return NULL;
}

/* Append to CHAIN the inlined calls below PARENT that cover PC, outermost first. Return the new
 * length. */
static size_t
// NOLINTNEXTLINE(misc-no-recursion): no deeper than WALK_DEPTH_MAX.
descend(Dwarf_Die *parent, uint64_t pc, Dwarf_Die *chain, size_t count, unsigned depth)
{
    Dwarf_Die die;
    Dwarf_Die next;

    if (depth > WALK_DEPTH_MAX || count >= SYMBOL_FRAMES_MAX - 1 || dwarf_child(parent, &die) != 0)
        return count;
    for (;;) {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
            tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
            bool covers = dwarf_haspc(&die, pc) > 0;

            if (covers && tag == DW_TAG_inlined_subroutine) {
                chain[count] = die;
                return descend(&die, pc, chain, count + 1, depth + 1);
            }
            if (covers)
                return descend(&die, pc, chain, count, depth + 1);
        }
        if (dwarf_siblingof(&die, &next) != 0 || (uintptr_t)next.addr <= (uintptr_t)die.addr)
            return count;
        die = next;
    }
}

static size_t
inline_chain(Dwarf_Die *function, uint64_t pc, Dwarf_Die *chain)
{
    return descend(function, pc, chain, 0, 0);
}

/* Return PATH as an absolute path. A relative PATH is below the unit's compilation directory. */
static const char *
absolute(struct debuginfo *d, const struct unit *u, const char *path)
{
    if (path == NULL || path[0] == '\0')
        return NULL;
    if (path[0] == '/' || u->directory == NULL || u->directory[0] == '\0')
        return path;
    return arena_printf(d->arena, "%s/%s", u->directory, path);
}

/* Set F's file and line from the unit's line table at PC. */
static bool
line_frame(struct debuginfo *d, struct unit *u, uint64_t pc, struct symbol_frame *f)
{
    Dwarf_Line *line = dwarf_getsrc_die(&u->die, pc);
    int number = 0;

    if (line == NULL)
        return false;
    f->file = absolute(d, u, dwarf_linesrc(line, NULL, NULL));
    if (dwarf_lineno(line, &number) == 0 && number > 0)
        f->line = (uint32_t)number;
    return f->file != NULL;
}

/* Set F's file and line to the place of the inlined CALL. */
static void
call_site(struct debuginfo *d, const struct unit *u, Dwarf_Die *call, struct symbol_frame *f)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &value) == 0 &&
        value < u->file_count)
        f->file = absolute(d, u, dwarf_filesrc(u->files, value, NULL, NULL));
    if (dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attribute), &value) == 0 &&
        value <= INT32_MAX)
        f->line = (uint32_t)value;
}

static const char *
linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) == NULL &&
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) == NULL)
        return NULL;
    return dwarf_formstring(&attribute);
}

/* Return the DIE of the function's declaration: the last DIE along origins and specifications. */
static Dwarf_Die
declaration_of(Dwarf_Die die)
{
    static const unsigned names[] = {DW_AT_abstract_origin, DW_AT_specification};

    for (unsigned step = 0; step < 16; step++) {
        Dwarf_Attribute attribute;
        Dwarf_Die origin;
        size_t i;

        for (i = 0; i < countof(names); i++)
            if (dwarf_attr(&die, names[i], &attribute) != NULL &&
                dwarf_formref_die(&attribute, &origin) != NULL)
                break;
        if (i == countof(names))
            break;
        die = origin;
    }
    return die;
}

/* Return the name of SCOPE within PREFIX (NULL = outermost). */
static const char *
extend_prefix(struct debuginfo *d, const char *prefix, Dwarf_Die *scope)
{
    const char *linkage = dwarf_tag(scope) == DW_TAG_subprogram ? linkage_name(scope) : NULL;
    const char *name = dwarf_diename(scope);

    // A function's linkage name is more precise than the scope of the DIE.
    if (linkage != NULL)
        return demangle(d->arena, linkage);
    if (name == NULL && dwarf_tag(scope) == DW_TAG_namespace)
        name = "(anonymous namespace)";
    else if (name == NULL)
        name = "{unnamed}";
    return prefix == NULL ? name : arena_printf(d->arena, "%s::%s", prefix, name);
}

/* Return the name "outer::inner::name" of DIE. */
static const char *
qualified_name(struct debuginfo *d, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    Dwarf_Die declaration = declaration_of(*die);
    struct unit *u = debuginfo_find_unit(d, &declaration);
    const char *prefix = NULL;

    if (name == NULL || u == NULL)
        return name;
    unit_walk(d, u, WALK_FULL);
    for (size_t i = 0; i < u->scope_count; i++) {
        struct scope *s = &u->scopes[i];

        if ((uintptr_t)s->start >= (uintptr_t)declaration.addr)
            break;
        if (s->end != NULL && (uintptr_t)s->end <= (uintptr_t)declaration.addr)
            continue;
        prefix = extend_prefix(d, prefix, &s->die);
    }
    return prefix == NULL ? name : arena_printf(d->arena, "%s::%s", prefix, name);
}

/* Return true if names in U's language have scopes. In C they have none, and no full walk is
 * needed. */
static bool
has_scopes(struct unit *u)
{
    switch (dwarf_srclang(&u->full)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
        return false;
    default:
        return true;
    }
}

/* Return true if other files may define other functions of the name of DIE, a function or an
 * inlined call in U. In languages other than those of the C family, a name has its package or crate
 * and is unique. */
static bool
is_local(struct unit *u, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    bool external = false;

    switch (dwarf_srclang(&u->full)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case LANG_C17:
    case LANG_C_PLUS_PLUS_17:
    case LANG_C_PLUS_PLUS_20:
    case DW_LANG_ObjC:
    case DW_LANG_ObjC_plus_plus:
        return dwarf_formflag(dwarf_attr_integrate(die, DW_AT_external, &attribute), &external) !=
                   0 ||
               !external;
    default:
        return false;
    }
}

/* Name FRAME after DIE, a function or an inlined call. */
static void
debuginfo_name_frame(struct debuginfo *d, struct unit *u, Dwarf_Die *die, struct debug_frame *frame)
{
    const uint64_t *index;

    frame->frame.local = is_local(u, die);
    frame->frame.linkage = linkage_name(die);
    if (frame->frame.linkage != NULL)
        return;
    frame->frame.function = has_scopes(u) ? qualified_name(d, die) : dwarf_diename(die);
    if (dwarf_tag(die) != DW_TAG_inlined_subroutine)
        return;
    // The function may also exist out of line; both instances must have the same name.
    index = map_get(&u->origins, (uintptr_t)debuginfo_origin_of(die, DW_AT_abstract_origin));
    if (index != NULL && *index < u->function_count)
        frame->entry = u->functions[*index].entry;
}

static size_t
make_frames(struct debuginfo *d, struct unit *u, struct function *f, uint64_t pc,
            struct debug_frame *frames)
{
    Dwarf_Die chain[SYMBOL_FRAMES_MAX];
    // Naming may walk the unit again, and then move the table that contains F.
    struct function function = *f;
    size_t depth = inline_chain(&function.die, pc, chain);

    frames[0] = (struct debug_frame){0};
    line_frame(d, u, pc, &frames[0].frame);
    for (size_t i = 0; i < depth; i++) {
        Dwarf_Die *call = &chain[depth - 1 - i];

        frames[i].frame.inlined = true;
        debuginfo_name_frame(d, u, call, &frames[i]);
        frames[i + 1] = (struct debug_frame){0};
        call_site(d, u, call, &frames[i + 1].frame);
    }
    frames[depth].entry = function.entry;
    debuginfo_name_frame(d, u, &function.die, &frames[depth]);
    return depth + 1;
}

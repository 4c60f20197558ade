/* real_interposed.c: finds the next definitions, by the tables of the dynamic linker.
 *
 * The program calls the recorder's functions because the recorder comes first in the scope that the
 * dynamic linker searches. Without the recorder, the search would find the next definition. If some
 * object defined the function when the program started, that definition is the same for every
 * caller during the life of the process: the global scope is searched first, grows only at its end,
 * and its first objects are never unloaded. So the first call of any function resolves all
 * functions, once.
 *
 * Operators new and delete differ in a program that starts without them, such as a C program that
 * opens plug-ins in C++. Each plug-in may have separate operators, or a private C++ library. The
 * return address does not identify the caller, because `delete` is often a function's last act and
 * then a jump. So the recorder hides its operators there. Their symbols get the value 0, which no
 * search accepts, and weak references of objects already loaded become null, as without the
 * recorder. The dynamic linker then binds each plug-in as usual. The calls of malloc by the
 * operators are recorded as malloc's, with the operator as the innermost frame.
 *
 * The recorder exports the operators in the versions of the C++ library, so a reference to another
 * version does not lead to the recorder. A reference without a version does lead to it. Without the
 * recorder, such a reference binds to the first definition of any version. If that definition
 * differs from the versioned one, the recorder hides its operator as well.
 *
 * A recorder linked into the program passes over a preloaded one, which records nothing in such a
 * program (dormant_preloaded.c). Otherwise it would take the preloaded one for an allocator other
 * than libc's. */
#include "allocator/real.h"

#include <string.h>

#include "allocator/symbols.h"
#include "base/atomics.h"
#include "platform/state.h"
#include "unwind/unwind.h"

struct real_cxx_operator real_cxx_operators[REAL_OPERATOR_COUNT];

#define BASE_VERSION "GLIBC_2.2.5"

// The first ALLOCATORS entries of `functions` are functions of an allocator.
enum { MALLOC, USABLE, FREE, ALLOCATORS = 11 };

/* The functions: each with its member in struct real_allocator, and the symbol version in the
 * program's references. */
static const struct {
    const char *name, *version;
    size_t off; // Offset in struct real_allocator.
} functions[] = {
    [MALLOC] = {"malloc", BASE_VERSION, offsetof(struct real_allocator, malloc)},
    [USABLE] = {"malloc_usable_size", BASE_VERSION,
                offsetof(struct real_allocator, malloc_usable_size)},
    [FREE] = {"free", BASE_VERSION, offsetof(struct real_allocator, free)},
    {"calloc", BASE_VERSION, offsetof(struct real_allocator, calloc)},
    {"realloc", BASE_VERSION, offsetof(struct real_allocator, realloc)},
    {"reallocarray", "GLIBC_2.26", offsetof(struct real_allocator, reallocarray)},
    {"posix_memalign", BASE_VERSION, offsetof(struct real_allocator, posix_memalign)},
    {"aligned_alloc", "GLIBC_2.16", offsetof(struct real_allocator, aligned_alloc)},
    {"memalign", BASE_VERSION, offsetof(struct real_allocator, memalign)},
    {"valloc", BASE_VERSION, offsetof(struct real_allocator, valloc)},
    {"pvalloc", BASE_VERSION, offsetof(struct real_allocator, pvalloc)},
    {"dlclose", BASE_VERSION, offsetof(struct real_allocator, dlclose)},
    {"fork", BASE_VERSION, offsetof(struct real_allocator, fork)},
    {"_Fork", "GLIBC_2.34", offsetof(struct real_allocator, async_fork)},
    {"dlopen", "GLIBC_2.34", offsetof(struct real_allocator, dlopen)},
    {"dlmopen", "GLIBC_2.34", offsetof(struct real_allocator, dlmopen)},
    {"dlsym", "GLIBC_2.34", offsetof(struct real_allocator, dlsym)},
    {"dlvsym", "GLIBC_2.34", offsetof(struct real_allocator, dlvsym)},
};

#define OPERATOR_ROW(name, aligned, version) {#name, version, aligned},
static const struct {
    const char *name, *version;
    bool aligned;
} operators[REAL_OPERATOR_COUNT] = {REAL_OPERATORS(OPERATOR_ROW)};

static const char *const sized_frees[] = {"free_sized", "free_aligned_sized"};

static uint32_t resolved; // Atomic.

/* --- Search ----------------------------------------------------------------------------------- */

enum {
    OPERATORS_FROM = countof(functions),
    SIZED_FROM = OPERATORS_FROM + REAL_OPERATOR_COUNT,
    LIBC = SIZED_FROM + countof(sized_frees),
    NAMES
};

/* The next definition of a name. Arrays of definitions have NAMES elements: first those of
 * `functions`, then `operators`, then `sized_frees`. The element LIBC is for a function that
 * identifies libc. */
struct definition {
    void *address; // NULL = none.
    const struct link_map *map;
    bool other; // An earlier object defines another version of the name. References without a
                // version bind to that definition.
};

/* The names with their hashes, in the order of the definitions. Threads that initialise them
 * concurrently store equal values. */
static struct symbols_name names[NAMES];

static void
hash_names(void)
{
    for (uint32_t i = 0; i < countof(functions); i++)
        names[i] = symbols_name(functions[i].name, functions[i].version);
    for (uint32_t i = 0; i < REAL_OPERATOR_COUNT; i++)
        names[OPERATORS_FROM + i] = symbols_name(operators[i].name, operators[i].version);
    for (uint32_t i = 0; i < countof(sized_frees); i++)
        names[SIZED_FROM + i] = symbols_name(sized_frees[i], NULL);
    names[LIBC] = symbols_name("gnu_get_libc_version", NULL);
}

static void
real_find_in(const struct symbols *o, const struct link_map *map, uint32_t i,
             struct definition *ret)
{
    struct symbols_name any = names[i];
    uint32_t index = symbols_find(o, &names[i]);

    if (index != 0) {
        ret->address = symbols_address(o, index);
        ret->map = map;
    } else {
        any.version = NULL;
        ret->other |= symbols_find(o, &any) != 0;
    }
}

/* Return true if O has a recorder that is inactive because another one is linked into the
 * program. */
static bool
real_is_dormant(const struct symbols *o)
{
    struct symbols_name n = symbols_name("heaptap_recorder_v1", NULL);

    return symbols_own() == symbols_first() && o->base != symbols_own()->l_addr &&
           symbols_find(o, &n) != 0;
}

/* Find the next definition of each name. Reads each object once, because programs with a hundred
 * objects are common. */
static void
find_all(struct definition *ret)
{
    const struct link_map *end = symbols_last()->l_next;

    hash_names();
    for (const struct link_map *map = symbols_own()->l_next; map != end; map = map->l_next) {
        struct symbols o;

        if (!symbols_read(map, &o) || real_is_dormant(&o))
            continue;
        for (uint32_t i = 0; i < NAMES; i++)
            if (ret[i].map == NULL)
                real_find_in(&o, map, i, &ret[i]);
    }
}

/* Return the first definition of NAME in the link map from FIRST on. */
static struct definition
find_from(const struct link_map *first, const char *name, const char *version)
{
    struct symbols_name n = symbols_name(name, version);
    const struct link_map *end = symbols_last()->l_next;

    for (const struct link_map *map = first; map != end; map = map->l_next) {
        struct symbols o;
        uint32_t index = symbols_read(map, &o) ? symbols_find(&o, &n) : 0;

        if (index != 0 && !real_is_dormant(&o))
            return (struct definition){.address = symbols_address(&o, index), .map = map};
    }
    return (struct definition){0};
}

void *
real_symbol(const char *name)
{
    return find_from(symbols_own()->l_next, name, NULL).address;
}

/* Return true if a call of NAME reaches the recorder from every object. */
static bool
real_address_is_ours(const char *name)
{
    return find_from(symbols_first(), name, NULL).map == symbols_own();
}

/* --- Operators -------------------------------------------------------------------------------- */

static bool
is_library(const struct link_map *map)
{
    static const char library[] = "libstdc++.so.";
    const char *name = map != NULL ? strrchr(map->l_name, '/') : NULL;

    return name != NULL && strncmp(name + 1, library, sizeof library - 1) == 0;
}

static void
real_take_operators(const struct definition *found, const struct link_map *allocator_map)
{
    // The C++ library's operators call malloc, free and the following two functions by name.
    bool plain = is_library(found[REAL__Znwm].map) && is_library(found[REAL__ZdlPv].map) &&
                 real_address_is_ours("malloc") && real_address_is_ours("free") &&
                 real_address_is_ours("_Znwm") && real_address_is_ours("_ZdlPv");

    for (uint32_t i = 0; i < REAL_OPERATOR_COUNT; i++)
        real_cxx_operators[i] = (struct real_cxx_operator){
            .function = found[i].address,
            .plain = plain && !operators[i].aligned && is_library(found[i].map),
            .is_allocators = found[i].map != NULL && found[i].map == allocator_map,
        };
}

/* --- Hidden operators ------------------------------------------------------------------------- */

/* For each name from OPERATORS_FROM to LIBC: true if the name is hidden, and the address of the
 * recorder's definition. */
struct hidden {
    bool is[LIBC - OPERATORS_FROM];
    uint64_t ours[LIBC - OPERATORS_FROM];
};

static bool
decide_hidden(const struct definition *found, struct hidden *ret)
{
    bool any = false;

    for (uint32_t i = 0; i < countof(ret->is); i++) {
        const struct definition *d = &found[OPERATORS_FROM + i];

        ret->is[i] = d->map == NULL || d->other;
        any |= ret->is[i];
    }
    return any;
}

/* Return the index of the hidden name that symbol INDEX of O refers to; -1 if there is none. */
static int
hidden_name(const struct hidden *h, const struct symbols *o, uint32_t index)
{
    const char *name = o->names + o->table[index].st_name;

    if (o->table[index].st_shndx != SHN_UNDEF || (strncmp(name, "_Z", 2) != 0 && *name != 'f'))
        return -1;
    for (uint32_t i = 0; i < countof(h->is); i++)
        if (h->is[i] && strcmp(name, names[OPERATORS_FROM + i].text) == 0)
            return (int)i;
    return -1;
}

/* Rebind relocation R of O, if it is bound to a hidden name, to the definition that it would have
 * without the recorder. */
static void
unbind(const struct hidden *h, const struct symbols *o, const Elf64_Rela *r)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), symbol = (uint32_t)ELF64_R_SYM(r->r_info);
    uint64_t *place = (uint64_t *)(uintptr_t)(o->base + r->r_offset);
    uint64_t more = type == R_X86_64_64 ? (uint64_t)r->r_addend : 0, value;
    struct symbols_opened opened;
    int i;

    if (type != R_X86_64_64 && type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT)
        return;
    i = hidden_name(h, o, symbol);
    if (i < 0 || *place != h->ours[i] + more)
        return; // The relocation is not yet bound, or bound to an object before the recorder.
    value = (uint64_t)(uintptr_t)find_from(symbols_own()->l_next, names[OPERATORS_FROM + i].text,
                                           symbols_needed_version(o, symbol))
                .address;
    if ((value == 0 && ELF64_ST_BIND(o->table[symbol].st_info) != STB_WEAK) ||
        !symbols_open(&opened, o, place, sizeof *place))
        return;
    store_release(place, value + more);
    symbols_close(&opened);
}

static void
unbind_object(const struct hidden *h, const struct symbols *o)
{
    uint32_t end = symbols_references_end(o), index = 1;

    while (index < end && hidden_name(h, o, index) < 0)
        index++;
    if (index >= end)
        return;
    for (uint64_t i = o->relative_count; o->usual && i < o->usual_bytes / sizeof *o->usual; i++)
        unbind(h, o, &o->usual[i]);
    for (uint64_t i = 0; o->calls && i < o->calls_bytes / sizeof *o->calls; i++)
        unbind(h, o, &o->calls[i]);
}

/* Hide the names from every search: change their values in the recorder's symbol table OURS. */
static void
hide_symbols(const struct symbols *ours, struct hidden *h)
{
    uint32_t index[countof(h->is)] = {0}, first = UINT32_MAX, end = 0;
    struct symbols_opened opened;

    for (uint32_t i = 0; i < countof(h->is); i++) {
        if (h->is[i])
            index[i] = symbols_find(ours, &names[OPERATORS_FROM + i]);
        if (index[i] == 0)
            continue;
        h->ours[i] = ours->base + ours->table[index[i]].st_value;
        first = index[i] < first ? index[i] : first;
        end = index[i] >= end ? index[i] + 1 : end;
    }
    if (first >= end ||
        !symbols_open(&opened, ours, &ours->table[first], (end - first) * sizeof *ours->table))
        return;
    for (uint32_t i = 0; i < countof(h->is); i++)
        if (index[i] != 0)
            store_release((uint64_t *)(uintptr_t)&ours->table[index[i]].st_value, UINT64_C(0));
    symbols_close(&opened);
}

/* Hide the names that no other object defined at the start, and the names whose definition depends
 * on the version of the reference. The dynamic linker then resolves both as without the
 * recorder. */
static void
step_aside(const struct definition *found)
{
    const struct link_map *end = symbols_last()->l_next;
    struct hidden hidden = {0};
    struct symbols o;

    // Hide nothing if the recorder is linked into the program: then the recorder's operators are
    // the program's operators.
    if (symbols_own()->l_prev == NULL || !decide_hidden(found, &hidden) ||
        !symbols_read(symbols_own(), &o))
        return;
    hide_symbols(&o, &hidden);
    for (const struct link_map *map = symbols_first(); map != end; map = map->l_next)
        if (map != symbols_own() && symbols_read(map, &o))
            unbind_object(&hidden, &o);
}

/* --- The allocator ---------------------------------------------------------------------------- */

/* Return true if NAME is a function of an allocator, or libc's internal name of such a function. */
static bool
is_allocators(const char *name)
{
    static const char internal[] = "__libc_";

    if (strncmp(name, internal, sizeof internal - 1) == 0)
        name += sizeof internal - 1;
    for (uint32_t i = 0; i < ALLOCATORS; i++)
        if (strcmp(name, functions[i].name) == 0)
            return true;
    return false;
}

static bool
calls_by_name(const struct symbols *o, const Elf64_Rela *r, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const Elf64_Sym *s = &o->table[ELF64_R_SYM(r[i].r_info)];

        if (is_allocators(o->names + s->st_name))
            return true;
    }
    return false;
}

/* Return true if the code of MAP may call allocator functions by names that lead to the
 * recorder. */
static bool
may_call_back(const struct link_map *map)
{
    struct symbols o;
    uint64_t usual;

    if (!symbols_read(map, &o))
        return true;
    usual = o.usual != NULL ? o.usual_bytes / sizeof *o.usual : 0;
    return (usual > o.relative_count &&
            calls_by_name(&o, o.usual + o.relative_count, usual - o.relative_count)) ||
           (o.calls != NULL && calls_by_name(&o, o.calls, o.calls_bytes / sizeof *o.calls));
}

/* --- Resolution ------------------------------------------------------------------------------- */

// The objects that define malloc, malloc_usable_size, and libc itself (NULL if it is not glibc).
// `parts` are the other objects that define any allocator function.
static const struct link_map *allocator, *sizer, *libc, *parts[REAL_PARTS];
static bool malloc_is_ours, calls_back, gives_libcs;

static struct real_allocator functions_found; // A member is NULL if no object defines the function.

static void
real_add_part(const struct link_map *map)
{
    uint32_t i = 0;

    while (parts[i] != NULL && parts[i] != map)
        i++;
    parts[i] = map;
}

/* Find the objects that define allocator functions. A library may replace free alone, for example
 * as a layer above libc's. Sizes follow libc's layout as long as libc returns the blocks. */
static void
real_find_parts(const struct definition *found)
{
    bool gives = true, back = false;

    static_assert((int)REAL_PARTS > (int)ALLOCATORS, "one more, which stays NULL");
    for (uint32_t i = 0; i < ALLOCATORS; i++) {
        if (i == USABLE || found[i].map == NULL || found[i].map == libc)
            continue;
        gives = gives && i == FREE;
        real_add_part(found[i].map);
    }
    for (uint32_t i = 0; parts[i] != NULL; i++)
        back = back || may_call_back(parts[i]);
    gives_libcs = gives;
    calls_back = back;
}

COLD void
real_resolve(void)
{
    struct definition found[NAMES] = {0};
    struct real_allocator n = {0};

    if (load_acquire(&resolved))
        return;
    find_all(found);
    for (uint32_t i = 0; i < countof(functions); i++)
        memcpy((char *)&n + functions[i].off, &found[i].address, sizeof found[i].address);
    if (load_acquire(&resolved))
        return;
    allocator = found[MALLOC].map;
    sizer = found[USABLE].map;
    libc = found[LIBC].map;
    malloc_is_ours = real_address_is_ours("malloc");
    real_take_operators(found + OPERATORS_FROM, allocator != libc ? allocator : NULL);
    step_aside(found);
    real_find_parts(found);
    functions_found = n;
    store_release(&resolved, 1u);
}

const struct real_allocator *
real_functions(void)
{
    real_resolve();
    return &functions_found;
}

bool
real_calls_back(void)
{
    real_resolve();
    return calls_back;
}

size_t
real_usable(const void *p)
{
    return functions_found.malloc_usable_size((void *)(uintptr_t)p);
}

const struct link_map *
real_part(uint32_t i)
{
    real_resolve();
    return parts[i];
}

const struct link_map *
real_libc(void)
{
    real_resolve();
    return libc;
}

bool
real_is_libc(void)
{
    real_resolve();
    return parts[0] == NULL;
}

bool
real_is_ours(void)
{
    real_resolve();
    return malloc_is_ours;
}

uint32_t
real_usable_mode(void)
{
    real_resolve();
    // malloc_usable_size accepts only blocks of the same object's malloc. If malloc is not the
    // recorder's, the recorder sees blocks of other allocators, such as those from reallocarray,
    // which calls realloc.
    if (sizer == NULL || sizer != allocator || !malloc_is_ours)
        return USABLE_NONE;
    if (sizer != libc)
        return USABLE_CALL;
    return gives_libcs ? USABLE_GLIBC : USABLE_NONE;
}

/* Search the object's name without strstr: a sanitizer may intercept strstr before it is
 * initialised. */
bool
real_is_sanitizer(void)
{
    static const char *const libraries[] = {"libtsan.", "liblsan.", "libasan.", "libhwasan.",
                                            "libclang_rt."};
    const char *path;

    real_resolve();
    path = allocator != NULL ? allocator->l_name : NULL;
    for (const char *at = path; at != NULL && *at != '\0'; at++) {
        for (size_t i = 0; i < countof(libraries); i++) {
            size_t n = 0;

            while (libraries[i][n] != '\0' && at[n] == libraries[i][n])
                n++;
            if (libraries[i][n] == '\0' && (at == path || at[-1] == '/'))
                return true;
        }
    }
    return false;
}

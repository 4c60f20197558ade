/* behind_dynamic.c: finding what is behind us, by the tables of the dynamic linker.
 *
 * The program calls ours because we come first in the scope that the dynamic linker searches. What
 * it would call without us is what that search would find next. For a function that some object had
 * when the program was started, that is the same for every caller, for as long as the process
 * lives: the global scope is searched first, it only grows at its end, and what is in it from the
 * start is never unloaded. So all is found once, by the first call of any function.
 *
 * That is not so for operators new and delete in a program that was started without them, say one
 * in C that opens plug-ins in C++. Each plug-in may have operators of its own, or a C++ library
 * that nobody else sees; who calls cannot be told from the return address, since `delete` is often
 * a function's last act and then a jump. So there we step aside: our symbol of that name gets the
 * value 0, which no search accepts, and weak references of what is loaded already become null, as
 * they were without us. The dynamic linker then binds each plug-in as ever, and what its operators
 * ask of malloc is recorded as malloc's, with the operator as the innermost frame.
 *
 * We have the operators in the versions of the C++ library, so that a reference to those of another
 * version does not lead to us. But one without a version does, and without us takes the first there
 * is: where that is another than the one of that version we step aside, too.
 */
#include "allocator/behind.h"

#include <string.h>

#include "allocator/symbols.h"
#include "base/atomics.h"
#include "platform/state.h"
#include "unwind/unwind.h"

struct behind_operator behind_operators[BEHIND_OPERATOR_COUNT];

#define BASE_VERSION "GLIBC_2.2.5"

// The first so many of `functions` are an allocator's.
enum { MALLOC, USABLE, FREE, ALLOCATORS = 11 };

/* Where each function goes, and the version of the program's references to it. */
static const struct {
    const char *name, *version;
    size_t off; // In struct next.
} functions[] = {
    [MALLOC] = {"malloc", BASE_VERSION, offsetof(struct next, malloc)},
    [USABLE] = {"malloc_usable_size", BASE_VERSION, offsetof(struct next, malloc_usable_size)},
    [FREE] = {"free", BASE_VERSION, offsetof(struct next, free)},
    {"calloc", BASE_VERSION, offsetof(struct next, calloc)},
    {"realloc", BASE_VERSION, offsetof(struct next, realloc)},
    {"reallocarray", "GLIBC_2.26", offsetof(struct next, reallocarray)},
    {"posix_memalign", BASE_VERSION, offsetof(struct next, posix_memalign)},
    {"aligned_alloc", "GLIBC_2.16", offsetof(struct next, aligned_alloc)},
    {"memalign", BASE_VERSION, offsetof(struct next, memalign)},
    {"valloc", BASE_VERSION, offsetof(struct next, valloc)},
    {"pvalloc", BASE_VERSION, offsetof(struct next, pvalloc)},
    {"dlclose", BASE_VERSION, offsetof(struct next, dlclose)},
    {"fork", BASE_VERSION, offsetof(struct next, fork)},
    {"_Fork", "GLIBC_2.34", offsetof(struct next, async_fork)},
    {"dlopen", "GLIBC_2.34", offsetof(struct next, dlopen)},
    {"dlmopen", "GLIBC_2.34", offsetof(struct next, dlmopen)},
    {"dlsym", "GLIBC_2.34", offsetof(struct next, dlsym)},
    {"dlvsym", "GLIBC_2.34", offsetof(struct next, dlvsym)},
};

#define OPERATOR_ROW(name, aligned, version) {#name, version, aligned},
static const struct {
    const char *name, *version;
    bool aligned;
} operators[BEHIND_OPERATOR_COUNT] = {BEHIND_OPERATORS(OPERATOR_ROW)};

static const char *const sized_frees[] = {"free_sized", "free_aligned_sized"};

static uint32_t resolved; // Atomic.

/* --- Search ----------------------------------------------------------------------------------- */

enum {
    OPERATORS_FROM = countof(functions),
    SIZED_FROM = OPERATORS_FROM + BEHIND_OPERATOR_COUNT,
    LIBC = SIZED_FROM + countof(sized_frees),
    NAMES
};

/* A definition of each of the names, by index in `functions`, `operators` and `sized_frees`; then
 * libc's own. */
struct definition {
    void *address; // NULL = there is none.
    const struct link_map *map;
    bool other; // Somebody before has it in another version, which those get who ask for none.
};

/* Their hashes; whoever is early writes the same. */
static struct symbols_name names[NAMES];

static void
hash_names(void)
{
    for (uint32_t i = 0; i < countof(functions); i++)
        names[i] = symbols_name(functions[i].name, functions[i].version);
    for (uint32_t i = 0; i < BEHIND_OPERATOR_COUNT; i++)
        names[OPERATORS_FROM + i] = symbols_name(operators[i].name, operators[i].version);
    for (uint32_t i = 0; i < countof(sized_frees); i++)
        names[SIZED_FROM + i] = symbols_name(sized_frees[i], NULL);
    names[LIBC] = symbols_name("gnu_get_libc_version", NULL);
}

static void
find_in(const struct symbols *o, const struct link_map *map, uint32_t i, struct definition *ret)
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

/* The first definition behind us of each name. One look at each object is enough: a hundred of them
 * are not rare. */
static void
find_all(struct definition *ret)
{
    const struct link_map *end = symbols_last()->l_next;

    hash_names();
    for (const struct link_map *map = symbols_own()->l_next; map != end; map = map->l_next) {
        struct symbols o;

        if (!symbols_read(map, &o))
            continue;
        for (uint32_t i = 0; i < NAMES; i++)
            if (ret[i].map == NULL)
                find_in(&o, map, i, &ret[i]);
    }
}

/* The first object from FIRST on that defines NAME, and what. */
static struct definition
find_from(const struct link_map *first, const char *name, const char *version)
{
    struct symbols_name n = symbols_name(name, version);
    const struct link_map *end = symbols_last()->l_next;

    for (const struct link_map *map = first; map != end; map = map->l_next) {
        struct symbols o;
        uint32_t index = symbols_read(map, &o) ? symbols_find(&o, &n) : 0;

        if (index != 0)
            return (struct definition){.address = symbols_address(&o, index), .map = map};
    }
    return (struct definition){0};
}

void *
behind_symbol(const char *name)
{
    return find_from(symbols_own()->l_next, name, NULL).address;
}

/* Does NAME mean ours to everybody? */
static bool
is_ours(const char *name)
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
take_operators(const struct definition *found, const struct link_map *allocator_map)
{
    // The C++ library's are made of malloc, free and these two by these names.
    bool plain = is_library(found[BEHIND__Znwm].map) && is_library(found[BEHIND__ZdlPv].map) &&
                 is_ours("malloc") && is_ours("free") && is_ours("_Znwm") && is_ours("_ZdlPv");

    for (uint32_t i = 0; i < BEHIND_OPERATOR_COUNT; i++)
        behind_operators[i] = (struct behind_operator){
            .function = found[i].address,
            .plain = plain && !operators[i].aligned && is_library(found[i].map),
            .is_allocators = found[i].map != NULL && found[i].map == allocator_map,
        };
}

/* --- Names that we should not have ------------------------------------------------------------ */

/* Which of the names from OPERATORS_FROM to LIBC, and where ours are. */
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

/* Which of the hidden names O's symbol INDEX refers to; -1 if to none. */
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

/* Make relocation R of O, if it leads to a name that is hidden by now, what it is without us. */
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
        return; // It is to be bound when it is first used, or leads to somebody before us.
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

/* From now on no search finds those in OURS. */
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

/* Hide the names that nobody else had at the start, and those that mean one function to some and
 * another to others: both then mean what they would without us. */
static void
step_aside(const struct definition *found)
{
    const struct link_map *end = symbols_last()->l_next;
    struct hidden hidden = {0};
    struct symbols o;

    // Where the program itself brings us, what we have is its own for good.
    if (symbols_own()->l_prev == NULL || !decide_hidden(found, &hidden) ||
        !symbols_read(symbols_own(), &o))
        return;
    hide_symbols(&o, &hidden);
    for (const struct link_map *map = symbols_first(); map != end; map = map->l_next)
        if (map != symbols_own() && symbols_read(map, &o))
            unbind_object(&hidden, &o);
}

/* --- The allocator ---------------------------------------------------------------------------- */

/* Is that the name of one of the functions that an allocator may be made of, or of libc's? */
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

/* Does the code of MAP call functions of an allocator by names that lead to us? */
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

// Objects: who has malloc, malloc_usable_size, and libc itself (NULL if it is not glibc). `parts`
// are those other than libc that have any function of an allocator.
static const struct link_map *allocator, *sizer, *libc, *parts[BEHIND_PARTS];
static bool malloc_is_ours, calls_back, gives_libcs;

static struct next functions_found; // NULL = nobody has it.

static void
add_part(const struct link_map *map)
{
    uint32_t i = 0;

    while (parts[i] != NULL && parts[i] != map)
        i++;
    parts[i] = map;
}

/* A library may replace free alone, say, and be a layer on libc's. The sizes of blocks are libc's
 * as long as that is who gives them out. */
static void
find_parts(const struct definition *found)
{
    bool gives = true, back = false;

    static_assert((int)BEHIND_PARTS > (int)ALLOCATORS, "one more, which stays NULL");
    for (uint32_t i = 0; i < ALLOCATORS; i++) {
        if (i == USABLE || found[i].map == NULL || found[i].map == libc)
            continue;
        gives = gives && i == FREE;
        add_part(found[i].map);
    }
    for (uint32_t i = 0; parts[i] != NULL; i++)
        back = back || may_call_back(parts[i]);
    gives_libcs = gives;
    calls_back = back;
}

COLD void
behind_resolve(void)
{
    struct definition found[NAMES] = {0};
    struct next n = {0};

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
    malloc_is_ours = is_ours("malloc");
    take_operators(found + OPERATORS_FROM, allocator != libc ? allocator : NULL);
    step_aside(found);
    find_parts(found);
    functions_found = n;
    store_release(&resolved, 1u);
}

const struct next *
behind_functions(void)
{
    behind_resolve();
    return &functions_found;
}

bool
behind_calls_back(void)
{
    behind_resolve();
    return calls_back;
}

size_t
behind_usable(const void *p)
{
    return functions_found.malloc_usable_size((void *)(uintptr_t)p);
}

const struct link_map *
behind_part(uint32_t i)
{
    behind_resolve();
    return parts[i];
}

const struct link_map *
behind_libc(void)
{
    behind_resolve();
    return libc;
}

bool
behind_is_libc(void)
{
    behind_resolve();
    return parts[0] == NULL;
}

bool
behind_is_ours(void)
{
    behind_resolve();
    return malloc_is_ours;
}

uint32_t
behind_usable_mode(void)
{
    behind_resolve();
    // malloc_usable_size may only be asked about blocks of its own object's malloc. Where malloc is
    // not ours, what comes to us are others' blocks: reallocarray's, say, which calls realloc.
    if (sizer == NULL || sizer != allocator || !malloc_is_ours)
        return USABLE_NONE;
    if (sizer != libc)
        return USABLE_CALL;
    return gives_libcs ? USABLE_GLIBC : USABLE_NONE;
}

/* By the name of its object, compared here because a sanitizer may have strstr intercepted and not
 * be ready for it. */
bool
behind_is_sanitizer(void)
{
    static const char *const libraries[] = {"libtsan.", "liblsan.", "libasan.", "libhwasan.",
                                            "libclang_rt."};
    const char *path;

    behind_resolve();
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

/* bypass_interposed.c: intercepts calls that reach libc's own allocator outside link order.
 *
 * The recorder would miss four kinds of calls. An object opened with RTLD_DEEPBIND searches its own
 * libraries first and finds libc's malloc. dlsym finds libc's malloc with libc's handle or by
 * RTLD_NEXT. Some programs call __libc_malloc. An object opened by dlmopen has a separate libc.
 *
 * The recorder exports __libc_malloc and its relatives (libc_interposed.c). For the other calls,
 * the recorder redirects libc's dynamic symbols: before the program can look them up, the symbols
 * malloc etc. get the addresses of the recorder's functions as values. References that are already
 * bound do not change.
 *
 *     plug-in, deep: malloc ─► libc's symbol ─► own_malloc ─► next.malloc, which is libc's
 *                                          or ─► malloc_0 ──► libc's, if another is next
 *     plug-in, namespace 1:  ─► its libc's ───► malloc_1 ──► that libc's
 *
 * A libc loaded by dlmopen must be changed between its loading and its relocation. In between, the
 * dynamic linker calls the recorder's calloc to allocate its version tables. During this call all
 * objects are mapped and no reference is bound.
 *
 * libc's reallocarray is not redirected: it calls realloc by name, which may lead to any
 * definition. Each libc frees its own blocks. If the table has no room for a libc, or if a libc's
 * pages cannot be changed, that libc is counted as a loss. */
#include "entry/entry.h"

#include <elf.h>

#include "allocator/symbols.h"
#include "base/atomics.h"
#include "entry/recorded.h"
#include "unwind/unwind.h"

struct libc {
    const struct link_map *map; // NULL = this entry is free.
    struct real_allocator real; // The functions of this libc.
};

/* Maximum number of namespaces. The first libc is the program's. */
enum { LIBCS = 16 };
static struct libc libcs[LIBCS];

/* A range of code addresses. */
struct code {
    uint64_t start, size_bytes;
};

/* Code of the recorder, and of the real allocator if it is not libc's. Such an allocator may call
 * libc's functions within its own event. */
static struct code ours, allocators[REAL_PARTS];

static bool
bypass_is_part(struct arch_caller caller)
{
    uint64_t return_address = *(const uint64_t *)(uintptr_t)caller.slot;

    if (return_address - ours.start < ours.size_bytes)
        return true;
    for (const struct code *c = allocators; c->size_bytes != 0; c++)
        if (return_address - c->start < c->size_bytes)
            return true;
    return false;
}

/* --- Functions in front of a libc ------------------------------------------------------------- */

/* Return true if the real allocator cannot report the size of libc's blocks. Only glibc's allocator
 * can. */
static inline bool
are_odd(void)
{
    return real_usable_mode() != USABLE_GLIBC;
}

static inline void
came(const struct reentry_call *c, enum gate gate, void *p, size_t size_bytes,
     struct arch_caller caller)
{
    if (c->kind == REENTRY_LOST || !are_odd()) {
        allocated(c, gate, p, size_bytes, caller);
    } else if (c->kind == REENTRY_CALLED_BACK) {
        inner_alloc(p, size_bytes, true, gate, caller);
    } else {
        tls.nested_block = NULL;
        allocated_outer(gate, p, size_bytes, caller);
    }
}

#define ALLOCATES(name, parameters, size, call)                                                    \
    static NOINLINE void *bypass_##name parameters                                                 \
    {                                                                                              \
        enum gate gate = bypass_is_part(caller) ? GATE_PASS : gate_of(size, caller.slot);      \
        void *p;                                                                                   \
                                                                                                   \
        if (gate == GATE_PASS)                                                                     \
            return call;                                                                           \
        REENTRY_CALL(guard);                                                                       \
        reentry_begin(&guard, caller);                                                             \
        p = call;                                                                                  \
        came(&guard, gate, p, size, caller);                                                     \
        return p;                                                                                  \
    }

ALLOCATES(malloc, (const struct libc *l, struct arch_caller caller, size_t n), n, l->real.malloc(n))
ALLOCATES(valloc, (const struct libc *l, struct arch_caller caller, size_t n), n, l->real.valloc(n))
ALLOCATES(pvalloc, (const struct libc *l, struct arch_caller caller, size_t n), n,
          l->real.pvalloc(n))
ALLOCATES(calloc, (const struct libc *l, struct arch_caller caller, size_t n, size_t each),
          n *each, l->real.calloc(n, each))
ALLOCATES(memalign, (const struct libc *l, struct arch_caller caller, size_t align, size_t n), n,
          l->real.memalign(align, n))
ALLOCATES(aligned_alloc, (const struct libc *l, struct arch_caller caller, size_t align, size_t n),
          n, l->real.aligned_alloc(align, n))

static NOINLINE int
bypass_posix_memalign(const struct libc *l, struct arch_caller caller, void **ret_p, size_t align,
                      size_t n)
{
    enum gate gate = bypass_is_part(caller) ? GATE_PASS : gate_of(n, caller.slot);
    int error;

    if (gate == GATE_PASS)
        return l->real.posix_memalign(ret_p, align, n);
    REENTRY_CALL(guard);
    reentry_begin(&guard, caller);
    error = l->real.posix_memalign(ret_p, align, n);
    came(&guard, gate, error != 0 ? NULL : *ret_p, n, caller);
    return error;
}

static NOINLINE void
bypass_free(const struct libc *l, struct arch_caller caller, void *p)
{
    if (p == NULL || bypass_is_part(caller) || gate_leaves_out(p)) {
        l->real.free(p);
        return;
    }
    REENTRY_CALL(guard);
    reentry_begin(&guard, caller);
    if (guard.kind == REENTRY_RECORDED && !real_is_libc())
        event_free_known(p, caller); // Ignore unknown blocks: the real allocator may have reached
                                     // this free by a tail call.
    else
        freed(&guard, p, caller);
    l->real.free(p);
}

/* Reallocate P of L to N bytes, within G. Record a free and an allocation, which do not need the
 * allocator's size of P. If the call fails, insert P into the ledger again. */
static void *
realloc_odd(const struct libc *l, const struct reentry_call *g, enum gate gate, void *p, size_t n,
            struct arch_caller caller)
{
    bool inner = g->kind == REENTRY_CALLED_BACK;
    struct ledger_entry old =
        inner ? inner_realloc_begin(p, caller) : event_realloc_begin_known(p, caller);
    void *q = l->real.realloc(p, n);
    size_t refused_bytes = q == NULL ? n : 0;

    if (inner)
        inner_realloc_end(p, old, NULL, refused_bytes, gate, caller);
    else
        event_realloc_end(p, old, NULL, refused_bytes, refused_bytes == 0, caller);
    if (q != NULL) {
        event_moves(old, p, q);
        came(g, gate, q, n, caller);
        event_moved();
    }
    return q;
}

static NOINLINE void *
bypass_realloc(const struct libc *l, struct arch_caller caller, void *p, size_t n)
{
    struct realloc_arguments a = {l->real.realloc, p, n};
    bool part = bypass_is_part(caller);
    enum gate gate = part ? GATE_PASS : gate_of(n, caller.slot);
    void *q;

    if (part || (gate == GATE_PASS && (p == NULL || gate_leaves_out(p))))
        return l->real.realloc(p, n);
    REENTRY_CALL(guard);
    reentry_begin(&guard, caller);
    if (guard.kind == REENTRY_LOST || !are_odd())
        return realloc_in(&guard, gate, p, n, realloc_by, &a);
    if (p != NULL)
        return realloc_odd(l, &guard, gate, p, n, caller);
    q = l->real.realloc(p, n);
    came(&guard, gate, q, n, caller);
    return q;
}

#define EACH_LIBC(X)                                                                               \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

#define OF_LIBC(i)                                                                                 \
    static void *malloc_##i(size_t n) { return bypass_malloc(&libcs[i], ARCH_CALLER(), n); }       \
    static void *valloc_##i(size_t n) { return bypass_valloc(&libcs[i], ARCH_CALLER(), n); }       \
    static void *pvalloc_##i(size_t n) { return bypass_pvalloc(&libcs[i], ARCH_CALLER(), n); }     \
    static void *calloc_##i(size_t n, size_t each)                                                 \
    {                                                                                              \
        return bypass_calloc(&libcs[i], ARCH_CALLER(), n, each);                                   \
    }                                                                                              \
    static void *memalign_##i(size_t align, size_t n)                                              \
    {                                                                                              \
        return bypass_memalign(&libcs[i], ARCH_CALLER(), align, n);                                \
    }                                                                                              \
    static void *aligned_alloc_##i(size_t align, size_t n)                                         \
    {                                                                                              \
        return bypass_aligned_alloc(&libcs[i], ARCH_CALLER(), align, n);                           \
    }                                                                                              \
    static int posix_memalign_##i(void **ret_p, size_t align, size_t n)                            \
    {                                                                                              \
        return bypass_posix_memalign(&libcs[i], ARCH_CALLER(), ret_p, align, n);                   \
    }                                                                                              \
    static void free_##i(void *p) { bypass_free(&libcs[i], ARCH_CALLER(), p); }                    \
    static void *realloc_##i(void *p, size_t n)                                                    \
    {                                                                                              \
        return bypass_realloc(&libcs[i], ARCH_CALLER(), p, n);                                     \
    }                                                                                              \
    static int dlclose_##i(void *handle)                                                           \
    {                                                                                              \
        return unload(libcs[i].real.dlclose, handle, ARCH_SLOT());                                 \
    }                                                                                              \

EACH_LIBC(OF_LIBC)

#define REAL_OF_LIBC(i)                                                                            \
    {.malloc = malloc_##i,                                                                         \
     .calloc = calloc_##i,                                                                         \
     .realloc = realloc_##i,                                                                       \
     .free = free_##i,                                                                             \
     .posix_memalign = posix_memalign_##i,                                                         \
     .aligned_alloc = aligned_alloc_##i,                                                           \
     .memalign = memalign_##i,                                                                     \
     .valloc = valloc_##i,                                                                         \
     .pvalloc = pvalloc_##i,                                                                       \
     .dlclose = dlclose_##i},

/* Replacements of the functions of each libc; NULL = that function is not replaced. */
static const struct real_allocator fronts[LIBCS] = {EACH_LIBC(REAL_OF_LIBC)};

/* --- Symbols of a libc ------------------------------------------------------------------------ */

/* A function may have an older version, which only dlvsym finds. Older versions come first, so that
 * libc_of keeps the default one. */
static const struct {
    const char *name;
    size_t off;          // Offset in struct real_allocator.
    const char *version; // NULL = the default one.
} functions[] = {
    {"cfree", offsetof(struct real_allocator, free), "GLIBC_2.2.5"},
    {"dlclose", offsetof(struct real_allocator, dlclose), "GLIBC_2.2.5"},
    {"dlopen", offsetof(struct real_allocator, dlopen), "GLIBC_2.2.5"},
    {"dlmopen", offsetof(struct real_allocator, dlmopen), "GLIBC_2.3.4"},
    {"malloc", offsetof(struct real_allocator, malloc), NULL},
    {"calloc", offsetof(struct real_allocator, calloc), NULL},
    {"realloc", offsetof(struct real_allocator, realloc), NULL},
    {"free", offsetof(struct real_allocator, free), NULL},
    {"posix_memalign", offsetof(struct real_allocator, posix_memalign), NULL},
    {"aligned_alloc", offsetof(struct real_allocator, aligned_alloc), NULL},
    {"memalign", offsetof(struct real_allocator, memalign), NULL},
    {"valloc", offsetof(struct real_allocator, valloc), NULL},
    {"pvalloc", offsetof(struct real_allocator, pvalloc), NULL},
    {"dlclose", offsetof(struct real_allocator, dlclose), NULL},
    {"dlopen", offsetof(struct real_allocator, dlopen), NULL},
    {"dlmopen", offsetof(struct real_allocator, dlmopen), NULL},
    {"__libc_malloc", offsetof(struct real_allocator, malloc), NULL},
    {"__libc_calloc", offsetof(struct real_allocator, calloc), NULL},
    {"__libc_realloc", offsetof(struct real_allocator, realloc), NULL},
    {"__libc_free", offsetof(struct real_allocator, free), NULL},
    {"__libc_memalign", offsetof(struct real_allocator, memalign), NULL},
    {"__libc_valloc", offsetof(struct real_allocator, valloc), NULL},
    {"__libc_pvalloc", offsetof(struct real_allocator, pvalloc), NULL},
};

static void **
member(const struct real_allocator *n, size_t i)
{
    return (void **)(uintptr_t)((const char *)n + functions[i].off);
}

/* Find the symbol indexes of O's functions; 0 = O lacks the function. */
static void
find_functions(const struct symbols *o, uint32_t *ret_index)
{
    for (size_t i = 0; i < countof(functions); i++) {
        struct symbols_name name = symbols_name(functions[i].name, functions[i].version);

        ret_index[i] = symbols_find(o, &name);
    }
}

/* Return the functions of MAP, whose symbols are O. Call before the symbols are redirected. */
static struct libc
libc_of(const struct link_map *map, const struct symbols *o, const uint32_t *index)
{
    struct libc l = {.map = map, .real = real};

    for (size_t i = 0; i < countof(functions); i++)
        if (index[i] != 0)
            *member(&l.real, i) = symbols_address(o, index[i]);
    return l;
}

/* Redirect the functions of O, so that lookups find the functions of FRONT. Return false on
 * failure. */
static bool
put_in_front(const struct symbols *o, const struct real_allocator *front, const uint32_t *index)
{
    uint32_t first = UINT32_MAX, end = 0;
    struct symbols_opened opened;

    for (size_t i = 0; i < countof(functions); i++) {
        if (index[i] == 0 || *member(front, i) == NULL)
            continue;
        first = index[i] < first ? index[i] : first;
        end = index[i] >= end ? index[i] + 1 : end;
    }
    if (first >= end ||
        !symbols_open(&opened, o, &o->table[first], (end - first) * sizeof *o->table))
        return false;
    for (size_t i = 0; i < countof(functions); i++)
        if (index[i] != 0 && *member(front, i) != NULL)
            store_release((uint64_t *)(uintptr_t)&o->table[index[i]].st_value,
                          (uint64_t)(uintptr_t)*member(front, i) - o->base);
    symbols_close(&opened);
    return true;
}

static COLD void
count_unseen(void)
{
    if (state != NULL && load_acquire(&state->ready) == READY_YES)
        add_relaxed(&state->header->losses.unseen_allocators, UINT64_C(1));
}

/* --- The program's libc ----------------------------------------------------------------------- */

static uint32_t known; // Atomic: 1 after the program's libc was entered in the table.

static struct code
bypass_code_of(const struct link_map *map)
{
    struct unwind_object o;

    if (map == NULL || !unwind_find_object((uintptr_t)map->l_ld, &o))
        return (struct code){0};
    return (struct code){o.start, o.end - o.start};
}

/* Enter the program's libc in the table. Async-signal-safe. Threads may run this concurrently: no
 * symbol is redirected before `known` is set, so all threads get the same result. */
static COLD void
learn_own_libc(void)
{
    uint32_t index[countof(functions)];
    struct symbols o;
    struct libc l;

    real_calls_resolve(); // `real` supplies the functions that the program's libc lacks.
    if (real_libc() == NULL || !symbols_read(real_libc(), &o))
        return;
    find_functions(&o, index);
    l = libc_of(real_libc(), &o, index);
    if (load_acquire(&known))
        return;
    libcs[0] = l;
    if (!real_is_libc()) {
        ours = bypass_code_of(symbols_own());
        for (uint32_t i = 0, known_parts = 0; real_part(i) != NULL; i++) {
            struct code c = bypass_code_of(real_part(i));

            if (c.size_bytes != 0)
                allocators[known_parts++] = c;
        }
    }
    store_release(&known, 1u);
}

const struct real_allocator *
bypass_front(void)
{
    if (unlikely(!load_acquire(&known)))
        learn_own_libc();
    return likely(real_is_libc()) || !load_acquire(&known) ? NULL : &fronts[0];
}

const struct real_allocator *
bypass_libc(void)
{
    return &libcs[0].real;
}

int
bypass_dlclose(void *handle)
{
    return fronts[0].dlclose(handle);
}

COLD void
bypass_take(const struct real_allocator *front)
{
    uint32_t index[countof(functions)];
    struct symbols o;

    if (!symbols_read(real_libc(), &o))
        return;
    find_functions(&o, index);
    if (!put_in_front(&o, front, index))
        count_unseen();
}

/* --- Libcs of other namespaces ---------------------------------------------------------------- */

/* Return an entry whose libc was unloaded, or LIBCS if there is none. A libc that is being loaded
 * looks unloaded too, but only one libc is loaded at a time. */
static uint32_t
free_place(void)
{
    uint32_t i = 1;

    while (i < LIBCS) {
        uint64_t start;

        if (libcs[i].map == NULL ||
            unwind_identity((uintptr_t)libcs[i].real.malloc, &start) != libcs[i].map)
            break;
        i++;
    }
    return i;
}

/* Return true if malloc of O, a libc, is already redirected. */
static bool
bypass_is_taken(const struct symbols *o)
{
    struct symbols_name name = symbols_name("malloc", NULL);
    uint32_t index = symbols_find(o, &name);

    for (uint32_t i = 1; i < LIBCS; i++)
        if (index != 0 && symbols_address(o, index) == (void *)fronts[i].malloc)
            return true;
    return false;
}

static void
bypass_look_at(const struct link_map *map)
{
    struct symbols_name name = symbols_name("gnu_get_libc_version", NULL);
    uint32_t index[countof(functions)], i;
    struct symbols o;

    if (!symbols_read(map, &o) || symbols_find(&o, &name) == 0 || bypass_is_taken(&o))
        return;
    find_functions(&o, index);
    i = free_place();
    if (i < LIBCS)
        libcs[i] = libc_of(map, &o, index);
    if (i == LIBCS || !put_in_front(&o, &fronts[i], index))
        count_unseen();
}

/* Return true if ADDRESS is in the dynamic linker. The kernel does not know where that is if it was
 * started as a command. */
static bool
is_linker(uint64_t address)
{
    const struct r_debug *debug = real_symbol("_r_debug");
    uint64_t start, linker_start;

    return debug != NULL && debug->r_ldbase != 0 &&
           unwind_identity(debug->r_ldbase, &linker_start) != NULL &&
           unwind_identity(address, &start) != NULL && start == linker_start;
}

/* Search all other namespaces for a libc that is being loaded. */
static void
bypass_look_around(void)
{
    const struct r_debug_extended *each = real_symbol("_r_debug");

    if (each == NULL || each->base.r_version < 2)
        return;
    for (each = each->r_next; each != NULL; each = each->r_next)
        for (const struct link_map *map = each->base.r_map; map != NULL; map = map->l_next)
            bypass_look_at(map);
}

/* The dynamic linker allocates the link map of an object by the recorder's calloc before it maps
 * the object. It holds the lock that dlclose takes, so every object that was at this place is gone
 * by now, whoever has closed it, and no thread runs the new object's code yet. */
COLD void
bypass_look(uint64_t slot)
{
    if (slot >= tls.loading_slot) {
        tls.loading_slot = 0; // dlopen or dlmopen has returned.
        return;
    }
    if (!is_linker(*(const uint64_t *)(uintptr_t)slot)) {
        // Either dlopen has returned, or a constructor is running. All objects are mapped by then.
        if (!tls.loading_namespace && reentry_is_idle())
            tls.loading_slot = 0;
        return;
    }
    event_unloaded(slot);
    if (tls.loading_namespace)
        bypass_look_around();
}

/* gc_record.c: records the objects of a program that uses the collector libgc (Boehm, Demers,
 * Weiser).
 *
 * Allocations are calls of libgc's functions (gc_shim.c). Reclamation is no call. At the end of
 * each collection, before any reclaimed memory is reused, the collector calls back with its lock
 * held, and the marks of all objects are readable. A known object without a mark is dead:
 *
 *     GC_malloc ─► the next one ─► gc_began: byte in gc_live, heaptap_alloc
 *     collection … GC_EVENT_RECLAIM_END ─► gc_live_sweep ─► not marked: heaptap_free
 *     GC_free ─► gc_ends: byte in gc_live, heaptap_free ─► the next one
 *
 * So live means *not yet reclaimed*. An object without references counts as live until the next
 * collection. An object that only seems referenced to the collector stays live after the
 * collection. These counts are exact: the program cannot reuse that memory.
 *
 * With an incremental or generational collector, the marks of old objects survive partial
 * collections; an unmarked object is dead in that case too.
 *
 * The collector scans the data of libraries and all stacks, and every word that looks like an
 * address keeps an object alive. Only the memory of the recorder and of gc_live.c contains
 * addresses of objects. Both come from mmap, and are unknown to the collector. The collector gets
 * its memory from mmap or sbrk, never from malloc, so no byte counts twice. The data of the
 * adapter's libraries is excluded from the scan: the more there is to scan, the less often the
 * collector runs, and a recorded program must have as many collections as an unrecorded one.
 *
 * The callback must not enter the collector or the runtime: it reads marks and calls the recorder,
 * which takes no lock and calls back into neither. */
#include "language/gc_record.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "heaptap/language.h"

/* Values of GC_EventType in libgc's header, which are the same in all versions. */
enum { EVENT_RECLAIM_END = 4 };

enum { SNAPSHOTS_A_STEP = 32 };

enum { KIND_ALONE, KIND_LISTS };

static const char *const kinds_alone[] = {
    [KIND_ALONE] = "libgc",
    [KIND_LISTS] = "libgc lists",
};

static struct gc_now
now_alone(void)
{
    return (struct gc_now){.kind = KIND_ALONE, .count = 1};
}

static const struct gc_runtime alone = {
    .kinds = kinds_alone, .now = now_alone, .lists = KIND_LISTS};
const struct gc_runtime *gc_runtime = &alone;

int gc_has_begun;

static const char *const names[GC_FUNCTIONS] = {
    [GC_FUNCTION_BASE] = "GC_base",
    [GC_FUNCTION_IS_MARKED] = "GC_is_marked",
    [GC_FUNCTION_SIZE] = "GC_size",
    [GC_FUNCTION_SET_EVENT] = "GC_set_on_collection_event",
    [GC_FUNCTION_GET_EVENT] = "GC_get_on_collection_event",
};
static void *functions[GC_FUNCTIONS];

/* --- The program's calls and the collector's own calls ---------------------------------------- */

static uintptr_t inner_start, inner_end; // Bounds of the collector's code.

/* Context of a search through the loaded objects for the code that contains the address WITHIN. */
struct code {
    uintptr_t within, start, end;
    bool is_libgc;
};

static int
gc_record_look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct code *code = arg;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];

        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
            continue;
        code->start = info->dlpi_addr + h->p_vaddr;
        code->end = code->start + h->p_memsz;
        code->is_libgc = strstr(info->dlpi_name, "/libgc") != NULL;
        if (code->start <= code->within && code->within < code->end)
            return 1;
    }
    return 0;
}

void
gc_runtime_code(const void *within, bool *ret_is_libgc)
{
    struct code code = {.within = (uintptr_t)within};

    if (dl_iterate_phdr(gc_record_look_at, &code) == 0)
        return;
    heaptap_runtime_code((void *)code.start, (void *)code.end);
    if (ret_is_libgc == NULL || !code.is_libgc)
        return;
    // Only a separate libgc has inner calls that reach the wrappers. A collector inside the
    // runtime's library calls its functions directly.
    *ret_is_libgc = true;
    inner_start = code.start;
    store_release(&inner_end, code.end);
}

bool
gc_is_inner(const void *pc)
{
    return (uintptr_t)pc < load_acquire(&inner_end) && (uintptr_t)pc >= inner_start;
}

/* --- Memory excluded from the scan ------------------------------------------------------------ */

static int (*program_filter)(const char *name, void *start, size_t bytes); // Atomic.

/* Return true if the collector should scan the data of the library NAME. Called with the
 * collector's lock held. */
static int
has_roots(const char *name, void *start, size_t bytes)
{
    int (*filter)(const char *, void *, size_t) = load_acquire(&program_filter);

    if (name != NULL && strstr(name, "/libheaptap") != NULL)
        return 0;
    return filter == NULL || filter(name, start, bytes);
}

/* Register the program's own filter, which the collector calls after ours. */
EXPORT void GC_register_has_static_roots_callback(int (*filter)(const char *, void *, size_t));
EXPORT void
GC_register_has_static_roots_callback(int (*filter)(const char *, void *, size_t))
{
    store_release(&program_filter, filter);
}

/* --- The functions behind ours ---------------------------------------------------------------- */

/* Context of a search for a loaded library: its index AT, which counts down to 0, and its NAME as
 * the result. */
struct library {
    size_t at;
    char name[PATH_MAX];
};

static int
take_name(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct library *l = arg;
    size_t length = strnlen(info->dlpi_name, sizeof l->name);

    (void)size;
    if (l->at-- > 0)
        return 0;
    if (length == sizeof l->name)
        length = 0;
    memcpy(l->name, info->dlpi_name, length);
    l->name[length] = '\0';
    return 1;
}

/* Return the function NAME of the library FILE, or of a library that FILE needs; NULL if there is
 * none. Keep FILE loaded, because the caller caches the address. */
static void *
gc_record_find_in(const char *file, const char *name)
{
    void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD), *p;
    Dl_info where;

    if (handle == NULL)
        return NULL;
    p = dlsym(handle, name);
    if (p != NULL && dladdr(p, &where) != 0)
        dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    dlclose(handle);
    return p;
}

/* Search every loaded library except ours: RTLD_NEXT does not find a library that was opened with
 * RTLD_LOCAL. Omit the program: its scope is the global one, which would return our own
 * functions. */
static COLD void *
gc_record_find_local(const char *name)
{
    struct library l;
    void *p = NULL;

    for (size_t i = 0; p == NULL; i++) {
        l.at = i;
        if (dl_iterate_phdr(take_name, &l) == 0)
            break;
        if (l.name[0] != '\0' && strstr(l.name, "/libheaptap") == NULL)
            p = gc_record_find_in(l.name, name);
    }
    return p;
}

static void *
find_behind(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Initialise once, with the collector that FIND finds. Call before the collector first determines
 * the memory to scan. For a collector opened with RTLD_LOCAL, call at its first function call. */
static void
gc_record_look_around(void *(*find)(const char *name))
{
    static int looked;
    const void *p = find("GC_malloc");
    void (*set_filter)(int (*)(const char *, void *, size_t));
    bool is_libgc = false;

    if (p == NULL || __atomic_exchange_n(&looked, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    gc_runtime_code(p, &is_libgc);
    *(void **)&set_filter = find("GC_register_has_static_roots_callback");
    if (set_filter != NULL)
        set_filter(has_roots);
}

void *
gc_find(void **place, const char *name)
{
    void *p = load_acquire(place);
    int saved = errno;

    if (likely(p != NULL))
        return p;
    p = find_behind(name);
    if (p == NULL && (p = gc_record_find_local(name)) != NULL)
        gc_record_look_around(gc_record_find_local);
    store_release(place, p);
    errno = saved;
    return p;
}

void *
gc_next(enum gc_function function)
{
    return gc_find(&functions[function], names[function]);
}

/* --- Heaps ------------------------------------------------------------------------------------ */

static heaptap_heap *heaps[GC_KINDS_MAX]; // Atomic.

heaptap_heap *
gc_heap(unsigned kind)
{
    heaptap_heap *h = load_acquire(&heaps[kind]), *none = NULL;

    if (likely(h != NULL))
        return h;
    h = heaptap_heap_create(gc_runtime->kinds[kind],
                            (HEAPTAP_LASTING | HEAPTAP_COLLECTED | HEAPTAP_DENSE) + 1);
    if (h == NULL || cas_acq_rel(&heaps[kind], &none, h))
        return h;
    heaptap_heap_destroy(h);
    return none;
}

/* --- Collections ------------------------------------------------------------------------------ */

static void (*program_hook)(int event); // Atomic.

static bool
is_dead(const void *p)
{
    void *(*base)(void *) = (void *(*)(void *))functions[GC_FUNCTION_BASE];
    int (*is_marked)(const void *) = (int (*)(const void *))functions[GC_FUNCTION_IS_MARKED];

    return base((void *)(uintptr_t)p) != p || !is_marked(p);
}

static void
ends(const void *p, unsigned kind)
{
    heaptap_free(gc_heap(kind), p);
}

/* Record the end of a collection, and take a named snapshot at some of them. These snapshots are
 * for human readers, so their distance grows: first after each collection, then after every second,
 * then after every fourth, and so on. Each snapshot contains the number of collections. */
static void
report_collection(void)
{
    static unsigned step = 1, taken;
    char name[32] = "collection ", digits[20];
    unsigned n = (unsigned)strlen(name), count = 0;
    unsigned long number = heaptap_collected(heaps, GC_KINDS_MAX);

    if (number == 0 || number % step != 0)
        return;
    for (unsigned long left = number; left > 0 || count == 0; left /= 10)
        digits[count++] = (char)('0' + left % 10);
    while (count > 0)
        name[n++] = digits[--count];
    heaptap_snapshot(name);
    if (++taken % SNAPSHOTS_A_STEP == 0)
        step *= 2;
}

/* Handle an event of the collector, which holds its lock, so calls never overlap. */
static void
on_event(int event)
{
    void (*hook)(int) = load_acquire(&program_hook);
    int saved = errno;

    if (event == EVENT_RECLAIM_END) {
        gc_live_sweep(is_dead, ends);
        report_collection();
        if (gc_runtime->collected != NULL)
            gc_runtime->collected();
    }
    errno = saved;
    if (hook != NULL)
        hook(event);
}

/* --- Events ----------------------------------------------------------------------------------- */

void
gc_set_hook(void (*hook)(int event))
{
    store_release(&program_hook, hook);
}

void (*gc_get_hook(void))(int event)
{
    return load_acquire(&program_hook);
}

/* Install the hook for the collector's events. A constructor would be too early: installing takes
 * the collector's lock, so the collector must be initialised before. */
COLD void
gc_begin(void)
{
    static int begun;
    int saved = errno;
    void (*set)(void (*)(int)), (*(*get)(void))(int), (*before)(int) = NULL;

    if (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    set = (void (*)(void (*)(int)))gc_next(GC_FUNCTION_SET_EVENT);
    get = (void (*(*)(void))(int))gc_next(GC_FUNCTION_GET_EVENT);
    if (set != NULL && gc_next(GC_FUNCTION_BASE) != NULL &&
        gc_next(GC_FUNCTION_IS_MARKED) != NULL) {
        if (get != NULL && (before = get()) != NULL && before != on_event)
            gc_set_hook(before);
        set(on_event);
    }
    store_release(&gc_has_begun, 1);
    errno = saved;
}

/* A function of the collector, NULL in other programs. There dlsym would allocate in the
 * program's heap, and leave an error that the program's dlerror returns. */
extern __attribute__((weak)) const char gc_base_function[] __asm__("GC_base");

__attribute__((constructor)) static void
gc_record_begin(void)
{
    gc_runtime_code((const void *)gc_record_begin, NULL);
    if (gc_base_function != NULL)
        gc_record_look_around(find_behind);
}

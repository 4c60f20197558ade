/* python_memory.c: records objects in CPython's own allocator.
 *
 * The interpreter has three domains of memory. `raw` is malloc. `mem` and `obj` use the
 * interpreter's allocator: it passes requests of more than 512 bytes, or of 0, to malloc, and
 * serves the rest from mapped arenas. Blocks of malloc are recorded like any program's. A block in
 * an arena is reported as an object of the heap "Python objects", and an arena as backing of that
 * heap. So no byte is counted twice, and none is missed.
 *
 * The address of a block decides. All arenas are allocated through a hook, which sets a bit for
 * each page (python_pages.c). A block belongs to the interpreter if the bit of its page is set.
 *
 *     PyObject_Malloc ─► obj_malloc ─► the previous function: its allocator, or checks around it
 *                            └─► in an arena? heaptap_alloc
 *
 * This also covers PYTHONMALLOC. With `malloc` no arena is ever made. With `debug` the hooks are
 * outside the checks, so sizes are the program's requests. The interpreter installs both during its
 * initialisation, over the earlier hooks. So the adapter checks until the end of the initialisation
 * that its hooks are still installed (python_memory_check_hooks). Since 3.12 an embedded
 * interpreter that was ended and is initialised again has dropped the hooks. Another function in
 * place of a hook may still call the hook: tracemalloc (-X tracemalloc) stores the previous
 * function in the struct that its context points to. A second hook over that one would call itself
 * endlessly.
 *
 * Blocks of `mem` and `obj` are used under the interpreter's lock, so no other thread runs between
 * the free of a block and its next use. */
#include "language/python_adapter.h"

#include <dlfcn.h>

#include "base/base.h"
#include "heaptap/heaptap.h"
#include "heaptap/language.h"

enum { DOMAIN_MEM = 1, DOMAIN_OBJ, DOMAINS, WRAPPERS_MAX = 4 };

/* Same layout as PyObjectArenaAllocator in the interpreter's headers. */
struct arenas {
    void *context;
    void *(*alloc)(void *context, size_t bytes);
    void (*free)(void *context, void *p, size_t bytes);
};

static struct {
    void (*get)(int domain, struct python_allocator *to);
    void (*set)(int domain, struct python_allocator *from);
    void (*get_arenas)(struct arenas *to);
    void (*set_arenas)(struct arenas *from);
    int (*is_initialized)(void);
} asked;

static struct python_allocator behind[DOMAINS];
static struct arenas arenas_behind;
static heaptap_heap *heap;
static size_t arena_bytes;
static const char *code_start; // Bounds of the interpreter's code.
static size_t code_bytes;
bool python_memory_hooks_final;

/* --- Arenas ----------------------------------------------------------------------------------- */

static inline bool
is_in_arena(const void *p)
{
    return python_is_page_of(&python_arenas, (uintptr_t)p);
}

static void *
python_memory_arena_alloc(void *context, size_t bytes)
{
    void *p = arenas_behind.alloc(context, bytes);

    if (p == NULL)
        return NULL;
    // The interpreter allocates objects and frames with this hook, but in different sizes.
    if (bytes == arena_bytes) {
        python_mark_pages(&python_arenas, p, bytes, true);
        heaptap_backing(heap, p, bytes);
    } else {
        python_chunk_begins(p, bytes);
    }
    return p;
}

static void
arena_free(void *context, void *p, size_t bytes)
{
    if (bytes == arena_bytes) {
        heaptap_backing_end(heap, p);
        python_mark_pages(&python_arenas, p, bytes, false);
        python_goes();
    } else {
        python_chunk_ends(p, bytes);
    }
    arenas_behind.free(context, p, bytes);
}

/* --- Objects ---------------------------------------------------------------------------------- */

static inline void
python_memory_resized(const void *old, bool was_in_arena, const void *p, size_t bytes)
{
    bool is_in = is_in_arena(p);

    if (was_in_arena && is_in)
        heaptap_resize(heap, old, p, bytes);
    else if (was_in_arena)
        heaptap_free(heap, old);
    else if (is_in)
        heaptap_alloc(heap, p, 1, bytes);
}

/* The hook's four functions for the domain NAME. */
#define HOOKS(name, domain)                                                                        \
    static void *name##_malloc(void *context, size_t bytes)                                        \
    {                                                                                              \
        void *p = behind[domain].malloc(context, bytes);                                           \
                                                                                                   \
        if ((domain) == DOMAIN_MEM && unlikely(python_frames_is_traced()))                         \
            python_goes();                                                                         \
        if (is_in_arena(p))                                                                        \
            heaptap_alloc(heap, p, 1, bytes);                                                      \
        return p;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static void *name##_calloc(void *context, size_t count, size_t bytes)                          \
    {                                                                                              \
        void *p = behind[domain].calloc(context, count, bytes);                                    \
                                                                                                   \
        if (is_in_arena(p))                                                                        \
            heaptap_alloc(heap, p, 1, count * bytes);                                              \
        return p;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static void *name##_realloc(void *context, void *old, size_t bytes)                            \
    {                                                                                              \
        bool was_in_arena = is_in_arena(old);                                                      \
        void *p;                                                                                   \
                                                                                                   \
        if ((domain) == DOMAIN_OBJ && !was_in_arena)                                               \
            python_reach_freed(old);                                                               \
        p = behind[domain].realloc(context, old, bytes);                                           \
        if (p != NULL)                                                                             \
            python_memory_resized(old, was_in_arena, p, bytes);                                    \
        return p;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static void name##_free(void *context, void *p)                                                \
    {                                                                                              \
        if ((domain) == DOMAIN_OBJ)                                                                \
            python_name_freed(p);                                                                  \
        if (is_in_arena(p))                                                                        \
            heaptap_free(heap, p);                                                                 \
        else if ((domain) == DOMAIN_OBJ)                                                           \
            python_reach_freed(p);                                                                 \
        behind[domain].free(context, p);                                                           \
    }

HOOKS(mem, DOMAIN_MEM)
HOOKS(obj, DOMAIN_OBJ)

static bool
is_interpreters(void *(*f)(void *, size_t))
{
    return (uintptr_t)f - (uintptr_t)code_start < code_bytes;
}

/* Return the allocator behind A, one of the interpreter's wrappers; NULL if A is no wrapper. A
 * wrapper stores the allocator in the struct that its context points to, after at most one word. */
static const struct python_allocator *
wrapped_by(const struct python_allocator *a)
{
    const uint64_t *context = a->context;

    if (((uintptr_t)context & 7) != 0 ||
        !heaptap_can_read(context, sizeof *context + sizeof(struct python_allocator)))
        return NULL;
    for (size_t skipped = 0; skipped <= 1; skipped++) {
        const struct python_allocator *it = (const struct python_allocator *)(context + skipped);

        if (is_interpreters(it->malloc) || it->malloc == mem_malloc || it->malloc == obj_malloc)
            return it;
    }
    return NULL;
}

/* Return true if A calls OURS. For functions outside the interpreter this cannot be determined, but
 * most call the previous function. */
static bool
leads_to(const struct python_allocator *a, void *(*ours)(void *, size_t))
{
    for (unsigned wrappers = 0; a != NULL && wrappers < WRAPPERS_MAX; wrappers++) {
        if (a->malloc == ours || !is_interpreters(a->malloc))
            return true;
        a = wrapped_by(a);
    }
    return a != NULL;
}

static void
hook(int domain, struct python_allocator with)
{
    struct python_allocator now;

    asked.get(domain, &now);
    if (behind[domain].malloc != NULL && leads_to(&now, with.malloc))
        return;
    behind[domain] = now;
    with.context = now.context;
    asked.set(domain, &with);
}

static void
hook_arenas(void)
{
    struct arenas now;

    asked.get_arenas(&now);
    if (now.alloc == python_memory_arena_alloc)
        return;
    arenas_behind = now;
    asked.set_arenas(&(struct arenas){now.context, python_memory_arena_alloc, arena_free});
}

static void
hook_all(void)
{
    struct python_allocator mem = {NULL, mem_malloc, mem_calloc, mem_realloc, mem_free};
    struct python_allocator obj = {NULL, obj_malloc, obj_calloc, obj_realloc, obj_free};

    hook_arenas();
    hook(DOMAIN_MEM, mem);
    hook(DOMAIN_OBJ, obj);
}

void
python_memory_check_hooks(void)
{
    bool is_initialized;

    if (arena_bytes == 0)
        return; // python_memory_begin has not installed the hooks.
    is_initialized = asked.is_initialized() != 0;
    python_memory_hooks_final = is_initialized;
    hook_all();
    if (is_initialized)
        python_stats_install(&behind[DOMAIN_OBJ], obj_malloc);
}

/* Look up a function of the interpreter. The pointer is cast to the function's type before each
 * call. */
#define find(to, name) (*(void **)&(to) = dlsym(RTLD_DEFAULT, (name)))

void
python_memory_begin(const struct python_layout *layout, const void *code, size_t bytes)
{
    find(asked.get, "PyMem_GetAllocator");
    find(asked.set, "PyMem_SetAllocator");
    find(asked.get_arenas, "PyObject_GetArenaAllocator");
    find(asked.set_arenas, "PyObject_SetArenaAllocator");
    find(asked.is_initialized, "Py_IsInitialized");
    python_memory_hooks_final = true;
    if (asked.get == NULL || asked.set == NULL || asked.get_arenas == NULL ||
        asked.set_arenas == NULL || asked.is_initialized == NULL || asked.is_initialized())
        return;
    python_memory_hooks_final = false;
    arena_bytes = layout->arena_bytes;
    code_start = code;
    code_bytes = bytes;
    heap = heaptap_heap_create("Python objects", (HEAPTAP_LASTING | HEAPTAP_DENSE) + 1);
    hook_all();
    python_stats_begin();
}

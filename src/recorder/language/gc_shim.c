/* gc_shim.c: wrappers of the libgc functions that allocate and free.
 *
 * Each wrapper calls the next definition and reports to gc_record.h. The functions of libgc call
 * each other by these same names. The return address identifies such an inner call, which is passed
 * through: a block belongs to the function that the program called.
 *
 * Lists of objects (GC_malloc_many) are recorded object by object, at the stack that requested the
 * list, because the program takes objects off the list without a call. Guile allocates its small
 * objects in this way. They have a separate heap, since it is unknown which function took an
 * object, or if any did.
 *
 * GC_realloc is recorded as a free and an allocation, in this order. Otherwise another thread might
 * get the old address while it is still recorded as live. */
#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include "language/gc_record.h"

/* Section of the shim's functions. A libgc function that the shim calls may end with a tail call to
 * another libgc function. The return address of that tail call is in the shim, so a return address
 * in this section marks an inner call too. */
#define SHIM EXPORT __attribute__((section("gc_shim_code")))
extern const char __start_gc_shim_code[] __attribute__((visibility("hidden")));
extern const char __stop_gc_shim_code[] __attribute__((visibility("hidden")));

static bool
gc_shim_is_inner(const void *pc)
{
    return ((const char *)pc >= __start_gc_shim_code && (const char *)pc < __stop_gc_shim_code) ||
           gc_is_inner(pc);
}

#define IS_INNER gc_shim_is_inner(__builtin_return_address(0))

/* Return the size of TEXT including its NUL; 0 if TEXT is NULL. */
static size_t
gc_shim_text_bytes(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static size_t
wide_bytes(const wchar_t *text)
{
    return text != NULL ? (wcslen(text) + 1) * sizeof *text : 0;
}

/* Define NAME to call the collector's function NAME and to record the object that this function
 * returns, with a size of BYTES. */
#define ALLOCATES(name, parameters, arguments, bytes)                                              \
    EXPORT void *name parameters;                                                                  \
    SHIM void *name parameters                                                                     \
    {                                                                                              \
        static void *place;                                                                        \
        void *(*next)parameters = (void *(*)parameters)gc_find(&place, #name);                     \
        void *p = next arguments;                                                                  \
                                                                                                   \
        if (!IS_INNER)                                                                             \
            gc_began(p, bytes);                                                                    \
        return p;                                                                                  \
    }

ALLOCATES(GC_malloc, (size_t bytes), (bytes), bytes)
ALLOCATES(GC_malloc_atomic, (size_t bytes), (bytes), bytes)
ALLOCATES(GC_malloc_uncollectable, (size_t bytes), (bytes), bytes)
ALLOCATES(GC_malloc_atomic_uncollectable, (size_t bytes), (bytes), bytes)
ALLOCATES(GC_malloc_ignore_off_page, (size_t bytes), (bytes), bytes)
ALLOCATES(GC_malloc_atomic_ignore_off_page, (size_t bytes), (bytes), bytes)
ALLOCATES(GC_malloc_stubborn, (size_t bytes), (bytes), bytes)
ALLOCATES(GC_malloc_kind, (size_t bytes, int kind), (bytes, kind), bytes)
ALLOCATES(GC_malloc_kind_global, (size_t bytes, int kind), (bytes, kind), bytes)
ALLOCATES(GC_generic_malloc, (size_t bytes, int kind), (bytes, kind), bytes)
ALLOCATES(GC_generic_malloc_ignore_off_page, (size_t bytes, int kind), (bytes, kind), bytes)
ALLOCATES(GC_generic_malloc_uncollectable, (size_t bytes, int kind), (bytes, kind), bytes)
ALLOCATES(GC_generic_or_special_malloc, (size_t bytes, int kind), (bytes, kind), bytes)
ALLOCATES(GC_malloc_explicitly_typed, (size_t bytes, size_t layout), (bytes, layout), bytes)
ALLOCATES(GC_malloc_explicitly_typed_ignore_off_page, (size_t bytes, size_t layout),
          (bytes, layout), bytes)
ALLOCATES(GC_calloc_explicitly_typed, (size_t n, size_t bytes, size_t layout), (n, bytes, layout),
          n *bytes)
ALLOCATES(GC_gcj_malloc, (size_t bytes, void *layout), (bytes, layout), bytes)
ALLOCATES(GC_gcj_malloc_ignore_off_page, (size_t bytes, void *layout), (bytes, layout), bytes)
ALLOCATES(GC_strdup, (const char *text), (text), gc_shim_text_bytes(p))
ALLOCATES(GC_strndup, (const char *text, size_t max), (text, max), gc_shim_text_bytes(p))
ALLOCATES(GC_wcsdup, (const wchar_t *text), (text), wide_bytes(p))

/* --- Where the object begins before the pointer to it ----------------------------------------- */

static void *
base_of(void *p)
{
    void *(*base)(void *) = (void *(*)(void *))gc_next(GC_FUNCTION_BASE);

    return p != NULL && base != NULL ? base(p) : p;
}

/* Like ALLOCATES, for an object that begins before the returned pointer. */
#define ALLOCATES_INSIDE(name, parameters, arguments, bytes)                                       \
    EXPORT void *name parameters;                                                                  \
    SHIM void *name parameters                                                                     \
    {                                                                                              \
        static void *place;                                                                        \
        void *(*next)parameters = (void *(*)parameters)gc_find(&place, #name);                     \
        void *p = next arguments;                                                                  \
                                                                                                   \
        if (!IS_INNER)                                                                             \
            gc_began(base_of(p), bytes);                                                           \
        return p;                                                                                  \
    }

ALLOCATES_INSIDE(GC_memalign, (size_t alignment, size_t bytes), (alignment, bytes), bytes)

// The block begins with the finalizer, and the object follows it.
ALLOCATES_INSIDE(GC_finalized_malloc, (size_t bytes, const void *closure), (bytes, closure), bytes)

/* Functions of programs compiled with GC_DEBUG, with up to three further parameters. */
#define DEBUGS(name) ALLOCATES_INSIDE(name, (size_t n, void *a, void *b, void *c), (n, a, b, c), n)
DEBUGS(GC_debug_malloc)
DEBUGS(GC_debug_malloc_atomic)
DEBUGS(GC_debug_malloc_uncollectable)
DEBUGS(GC_debug_malloc_atomic_uncollectable)
DEBUGS(GC_debug_malloc_ignore_off_page)
DEBUGS(GC_debug_malloc_atomic_ignore_off_page)
DEBUGS(GC_debug_malloc_stubborn)
DEBUGS(GC_debug_gcj_malloc)
DEBUGS(GC_debug_generic_or_special_malloc)
ALLOCATES_INSIDE(GC_debug_malloc_replacement, (size_t bytes), (bytes), bytes)
ALLOCATES_INSIDE(GC_debug_strdup, (const char *text, void *a, void *b, void *c), (text, a, b, c),
                 gc_shim_text_bytes(p))
ALLOCATES_INSIDE(GC_debug_strndup, (const char *text, size_t max, void *a, void *b, void *c),
                 (text, max, a, b, c), gc_shim_text_bytes(p))

EXPORT int GC_posix_memalign(void **ret, size_t alignment, size_t bytes);
SHIM int
GC_posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    static void *place;
    int (*next)(void **, size_t, size_t) =
        (int (*)(void **, size_t, size_t))gc_find(&place, "GC_posix_memalign");
    int error = next(ret, alignment, bytes);

    if (error == 0 && !IS_INNER)
        gc_began(base_of(*ret), bytes);
    return error;
}

/* --- Lists of objects ------------------------------------------------------------------------- */

EXPORT void *GC_malloc_many(size_t bytes);
SHIM void *
GC_malloc_many(size_t bytes)
{
    static void *place;
    void *(*next)(size_t) = (void *(*)(size_t))gc_find(&place, "GC_malloc_many");
    void *first = next(bytes);

    if (!IS_INNER)
        for (void **p = first; p != NULL; p = *p)
            gc_listed(p, bytes);
    return first;
}

EXPORT void GC_generic_malloc_many(size_t bytes, int kind, void **ret);
SHIM void
GC_generic_malloc_many(size_t bytes, int kind, void **ret)
{
    static void *place;
    void (*next)(size_t, int, void **) =
        (void (*)(size_t, int, void **))gc_find(&place, "GC_generic_malloc_many");

    next(bytes, kind, ret);
    if (!IS_INNER)
        for (void **p = *ret; p != NULL; p = *p)
            gc_listed(p, bytes);
    __asm__ volatile(""); // Prevents a tail call: this function must be on the stack when the last
                          // object is recorded.
}

/* --- Free and realloc ------------------------------------------------------------------------- */

EXPORT void GC_free(void *p);
SHIM void
GC_free(void *p)
{
    static void *place;
    void (*next)(void *) = (void (*)(void *))gc_find(&place, "GC_free");

    if (!IS_INNER)
        gc_ends(p);
    next(p);
}

EXPORT void GC_debug_free(void *p);
SHIM void
GC_debug_free(void *p)
{
    static void *place;
    void (*next)(void *) = (void (*)(void *))gc_find(&place, "GC_debug_free");

    if (!IS_INNER)
        gc_ends(base_of(p));
    next(p);
}

static size_t
gc_shim_size_of(void *p)
{
    size_t (*size)(const void *) = (size_t (*)(const void *))gc_next(GC_FUNCTION_SIZE);

    return p != NULL && size != NULL ? size(p) : 0;
}

/* Record the object P again after it could not grow and stayed unchanged. Use the size that libgc
 * reports, because the requested size is unknown. */
#define STAYS(p) gc_began(p, gc_shim_size_of(p))

EXPORT void *GC_realloc(void *p, size_t bytes);
SHIM void *
GC_realloc(void *p, size_t bytes)
{
    static void *place;
    void *(*next)(void *, size_t) = (void *(*)(void *, size_t))gc_find(&place, "GC_realloc");
    bool inner = IS_INNER;
    void *q;

    if (!inner)
        gc_ends(p);
    q = next(p, bytes);
    if (!inner && q != NULL)
        gc_began(q, bytes);
    else if (!inner && bytes != 0)
        STAYS(p);
    return q;
}

#define DEBUG_REALLOCATES(name, parameters, arguments)                                             \
    EXPORT void *name parameters;                                                                  \
    SHIM void *name parameters                                                                     \
    {                                                                                              \
        static void *place;                                                                        \
        void *(*next)parameters = (void *(*)parameters)gc_find(&place, #name);                     \
        bool inner = IS_INNER;                                                                     \
        void *q, *base = inner ? NULL : base_of(p);                                                \
                                                                                                   \
        gc_ends(base);                                                                             \
        q = next arguments;                                                                        \
        if (!inner && q != NULL)                                                                   \
            gc_began(base_of(q), bytes);                                                           \
        else if (base != NULL && bytes != 0)                                                       \
            STAYS(base);                                                                           \
        return q;                                                                                  \
    }

DEBUG_REALLOCATES(GC_debug_realloc, (void *p, size_t bytes, void *a, void *b, void *c),
                  (p, bytes, a, b, c))
DEBUG_REALLOCATES(GC_debug_realloc_replacement, (void *p, size_t bytes), (p, bytes))

/* --- The hook that we use --------------------------------------------------------------------- */

EXPORT void GC_set_on_collection_event(void (*hook)(int event));
SHIM void
GC_set_on_collection_event(void (*hook)(int event))
{
    gc_set_hook(hook);
}

EXPORT void (*GC_get_on_collection_event(void))(int event);
SHIM void (*GC_get_on_collection_event(void))(int event)
{
    return gc_get_hook();
}

/* gc_record.h: records a program that uses the collector libgc; see gc_record.c.
 *
 * Each object has a kind, which is a heap of the recorder. A program that uses libgc directly has
 * the heaps "libgc" and, for objects returned in lists, "libgc lists". An adapter for a runtime on
 * top of libgc has one heap per type of the runtime.
 *
 * All functions leave errno unchanged. */
#ifndef LANGUAGE_GC_RECORD_H
#define LANGUAGE_GC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/base.h"
#include "heaptap/heaptap.h"

/* --- gc_live.c: the set of live objects of a collected heap; see gc_live.c.
 *
 * All functions are thread-safe and async-signal-safe. */

/* Add an object of KIND, below 255, at P. Return false if there is no memory, or if no object can
 * begin at P. */
bool gc_live_put(const void *p, unsigned kind);

/* Remove the object at P. Return its kind; -1 if there was none. */
int gc_live_take(const void *p);

/* Remove each object that IS_DEAD returns true for, and call ENDS with it. */
void gc_live_sweep(bool (*is_dead)(const void *p), void (*ends)(const void *p, unsigned kind));

enum { GC_KINDS_MAX = 64 };

/* Kind and count of the calling thread's next allocation. */
struct gc_now {
    unsigned kind;
    unsigned count; // Objects in the allocation: 1, or 0 if it is a part of another object.
};

/* The runtime of a language that allocates its objects with the collector. */
struct gc_runtime {
    const char *const *kinds; // Names of the heaps, indexed by kind.
    struct gc_now (*now)(void);
    /* Called after a collection, with the collector's lock held and before the collector reuses the
     * addresses of dead objects. May be NULL. */
    void (*collected)(void);
    void (*freed)(const void *p); // Called when the program frees one object. May be NULL.
    unsigned lists; // Kind of the objects in the lists that GC_malloc_many returns.
};

/* The runtime of this process. The constructor of the runtime's adapter sets it. The default is for
 * programs that use libgc directly. */
extern const struct gc_runtime *gc_runtime;

/* Functions of libgc that the adapter calls. gc_next looks each of them up at its first use, and
 * returns NULL if libgc lacks it. */
enum gc_function {
    GC_FUNCTION_BASE,
    GC_FUNCTION_IS_MARKED,
    GC_FUNCTION_SIZE,
    GC_FUNCTION_SET_EVENT,
    GC_FUNCTION_GET_EVENT,
    GC_FUNCTIONS
};
void *gc_next(enum gc_function function);

/* Return the definition of NAME that follows ours in link order, cached in *PLACE. */
void *gc_find(void **place, const char *name);

/* Register the code of the library that contains WITHIN as code of the runtime. Unless RET_IS_LIBGC
 * is NULL, set *RET_IS_LIBGC to true if that library is a separate libgc. */
void gc_runtime_code(const void *within, bool *ret_is_libgc);

/* Return true if the return address PC is in libgc itself: libgc calls its own public functions
 * through the loader's tables, so these calls reach the wrappers too. */
bool gc_is_inner(const void *pc);

/* Return the heap of KIND, which the first call creates. Return NULL if the process is not
 * recorded. */
heaptap_heap *gc_heap(unsigned kind);

/* Call after each allocation. The first call asks the collector to report collections. */
void gc_begin(void);

extern int gc_has_begun;

/* Record that GC_malloc_many returned the object of BYTES at P in a list. Inlined, like
 * gc_began. */
static inline __attribute__((always_inline)) void
gc_listed(const void *p, size_t bytes)
{
    unsigned kind = gc_runtime->lists;

    if (unlikely(!load_acquire(&gc_has_begun)))
        gc_begin();
    if (gc_live_put(p, kind))
        heaptap_alloc(gc_heap(kind), p, 1, bytes);
}

/* Record that an object of BYTES was allocated at P. Inlined into the intercepting function, so
 * that the stack has exactly one frame of the adapter, which the heaps skip. */
static inline __attribute__((always_inline)) void
gc_began(const void *p, size_t bytes)
{
    struct gc_now now;

    if (p == NULL)
        return;
    if (unlikely(!load_acquire(&gc_has_begun)))
        gc_begin();
    now = gc_runtime->now();
    if (gc_live_put(p, now.kind))
        heaptap_alloc(gc_heap(now.kind), p, now.count, bytes);
}

/* Record that the object at P is about to be freed. */
static inline __attribute__((always_inline)) void
gc_ends(const void *p)
{
    int kind = p != NULL ? gc_live_take(p) : -1;

    if (kind < 0)
        return;
    heaptap_free(gc_heap((unsigned)kind), p);
    if (gc_runtime->freed != NULL)
        gc_runtime->freed(p);
}

/* Set or return the program's own hook for the collector's events, which the adapter's hook
 * calls. */
void gc_set_hook(void (*hook)(int event));
void (*gc_get_hook(void))(int event);

#endif

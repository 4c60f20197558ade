/* libtraced.c: take a snapshot and return the memory that tracemalloc has traced at the same
 * moment. For Python programs, called through ctypes.PyDLL.
 *
 * tracemalloc allocates its tables from the raw domain that it replaced, bypassing its own hooks.
 * To distinguish these tables from traced raw memory in stacks, this library wraps both sides of
 * tracemalloc. The outer functions record that a request is active. During a request, the first
 * inner call is the request's, and gets a frame of raw_traced; further calls are for the tables. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "heaptap/heaptap.h"

enum { LISTS = 200 }; // Number of lists, which exceeds the length of the interpreter's free list.

struct allocator {
    void *context;
    void *(*malloc)(void *context, size_t bytes);
    void *(*calloc)(void *context, size_t count, size_t bytes);
    void *(*realloc)(void *context, void *p, size_t bytes);
    void (*free)(void *context, void *p);
};

static struct allocator behind, tracemalloc;
static __thread bool is_asked;

/* Keeps the preceding call from becoming a tail call, which would leave no frame. */
#define STAY() __asm__ volatile("")

/* Call a function of `behind`: realloc if OLD is not NULL, calloc if COUNT > 0, else malloc. */
__attribute__((noinline)) static void *
raw_traced(void *old, size_t count, size_t bytes)
{
    void *p = old != NULL ? behind.realloc(behind.context, old, bytes)
              : count > 0 ? behind.calloc(behind.context, count, bytes)
                          : behind.malloc(behind.context, bytes);

    STAY();
    return p;
}

static bool
take_asked(void)
{
    bool was = is_asked;

    is_asked = false;
    return was;
}

static void *
inner_malloc(void *context, size_t bytes)
{
    (void)context;
    return take_asked() ? raw_traced(NULL, 0, bytes) : behind.malloc(behind.context, bytes);
}

static void *
inner_calloc(void *context, size_t count, size_t bytes)
{
    (void)context;
    return take_asked() ? raw_traced(NULL, count, bytes)
                        : behind.calloc(behind.context, count, bytes);
}

static void *
inner_realloc(void *context, void *old, size_t bytes)
{
    (void)context;
    return take_asked() ? raw_traced(old, 0, bytes) : behind.realloc(behind.context, old, bytes);
}

static void *
outer_malloc(void *context, size_t bytes)
{
    is_asked = true;
    return tracemalloc.malloc(context, bytes);
}

static void *
outer_calloc(void *context, size_t count, size_t bytes)
{
    is_asked = true;
    return tracemalloc.calloc(context, count, bytes);
}

static void *
outer_realloc(void *context, void *old, size_t bytes)
{
    is_asked = true;
    return tracemalloc.realloc(context, old, bytes);
}

static void
put(struct allocator *found, struct allocator with)
{
    void (*get)(int, struct allocator *), (*set)(int, struct allocator *);

    *(void **)&get = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
    *(void **)&set = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
    get(0, found);
    with.context = found->context;
    with.free = found->free;
    set(0, &with);
}

/* Install the inner hooks. Must be called before tracemalloc starts; when tracemalloc stops, it
 * removes all hooks that were installed before it. */
void
raw_inner(void)
{
    put(&behind, (struct allocator){.malloc = inner_malloc, .calloc = inner_calloc,
                                    .realloc = inner_realloc});
}

/* Select whether tracemalloc charges an object from a free list to the line that took it.
 * tracemalloc reads this word only in that case. */
static void
trace_reuse(int is_traced)
{
    int *config = dlsym(RTLD_DEFAULT, "_Py_tracemalloc_config");

    config[1] = is_traced;
}

static void *
call(void *function)
{
    void *(*call_it)(void *);

    *(void **)&call_it = dlsym(RTLD_DEFAULT, "PyObject_CallNoArgs");
    return call_it(function);
}

/* Label and trace all following allocations. START starts tracemalloc. */
void
traced_begin(const char *name, void *start, int with_reuse)
{
    heaptap_label("traced", name);
    call(start);
    trace_reuse(with_reuse);
    put(&tracemalloc, (struct allocator){.malloc = outer_malloc, .calloc = outer_calloc,
                                         .realloc = outer_realloc});
}

/* Take a snapshot called NAME. Return a new reference to the result of TRACES, tracemalloc's
 * function; store the result of COUNT, sys.getallocatedblocks, in *BLOCKS. */
void *
traced_now(const char *name, void *traces, void *count, void **blocks)
{
    void *(*new_list)(long), *lists[LISTS], *result;
    void (*release)(void *);

    *(void **)&new_list = dlsym(RTLD_DEFAULT, "PyList_New");
    *(void **)&release = dlsym(RTLD_DEFAULT, "Py_DecRef");
    trace_reuse(0);
    // These empty the free list, so the returned list does not come from it.
    for (size_t i = 0; i < LISTS; i++)
        lists[i] = new_list(0);
    *blocks = call(count);
    heaptap_snapshot(name);
    trace_reuse(1); // If this is off, tracemalloc reports that it does not trace.
    result = call(traces);
    heaptap_label("traced", NULL);
    for (size_t i = 0; i < LISTS; i++)
        release(lists[i]);
    return result;
}

/* libtraced.c: for Python programs, by ctypes.PyDLL: the memory that tracemalloc has traced, and a
 * snapshot at the same moment.
 *
 * tracemalloc's own tables come from the raw domain that it replaced, bypassing its hooks. To make
 * these distinct from traced raw memory in stacks, this library wraps both sides of tracemalloc.
 * The outer functions record that a request is active. Of the inner calls during a request only the
 * first is the request's: it has a frame of raw_traced. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "heaptap/heaptap.h"

enum { LISTS = 200 }; // More than the interpreter has in a free list.

struct allocator {
    void *context;
    void *(*malloc)(void *context, size_t bytes);
    void *(*calloc)(void *context, size_t count, size_t bytes);
    void *(*realloc)(void *context, void *p, size_t bytes);
    void (*free)(void *context, void *p);
};

static struct allocator behind, tracemalloc;
static __thread bool is_asked;

/* Keeps the call before it from becoming a tail call, which would leave no frame. */
#define STAY() __asm__ volatile("")

/* One of the three functions behind: malloc for COUNT = 0 and OLD = NULL, and so on. */
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

/* Call it before tracemalloc begins, which at its end removes all hooks that were installed before
 * it. */
void
raw_inner(void)
{
    put(&behind, (struct allocator){.malloc = inner_malloc, .calloc = inner_calloc,
                                    .realloc = inner_realloc});
}

/* Select whether tracemalloc charges an object that comes out of a free list to the line that took
 * it. tracemalloc reads this word only in that case. */
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

/* From now on label and trace all allocations. START starts tracemalloc. */
void
traced_begin(const char *name, void *start, int with_reuse)
{
    heaptap_label("traced", name);
    call(start);
    trace_reuse(with_reuse);
    put(&tracemalloc, (struct allocator){.malloc = outer_malloc, .calloc = outer_calloc,
                                         .realloc = outer_realloc});
}

/* Return a new reference to the result of TRACES, tracemalloc's function; the snapshot is called
 * NAME. BLOCKS gets the result of COUNT, sys.getallocatedblocks. */
void *
traced_now(const char *name, void *traces, void *count, void **blocks)
{
    void *(*new_list)(long), *lists[LISTS], *result;
    void (*release)(void *);

    *(void **)&new_list = dlsym(RTLD_DEFAULT, "PyList_New");
    *(void **)&release = dlsym(RTLD_DEFAULT, "Py_DecRef");
    trace_reuse(0);
    // With these the returned list does not come out of the free list.
    for (size_t i = 0; i < LISTS; i++)
        lists[i] = new_list(0);
    *blocks = call(count);
    heaptap_snapshot(name);
    trace_reuse(1); // Otherwise tracemalloc reports that it does not trace.
    result = call(traces);
    heaptap_label("traced", NULL);
    for (size_t i = 0; i < LISTS; i++)
        release(lists[i]);
    return result;
}

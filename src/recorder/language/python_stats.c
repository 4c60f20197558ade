/* python_stats.c: makes sys._debugmallocstats work under the adapter's hooks.
 *
 * That function writes the tables of the interpreter's allocator to stderr, but only if it finds
 * this allocator in use: it compares the installed allocation function with the interpreter's. The
 * adapter has installed its own, so the function would write nothing, and the program would behave
 * differently when recorded. So the previous function is installed again while
 * sys._debugmallocstats runs. It neither allocates nor frees objects, and keeps the interpreter's
 * lock, so no event is missed.
 *
 *     sys._debugmallocstats ─► stats ─► set the previous one ─► the interpreter's function ─► ours
 *
 * The function can be found only after the interpreter is initialised, and not from inside malloc.
 * So the adapter registers a pending call (Py_AddPendingCall). The call replaces the definition in
 * the function object of the main interpreter's `sys`; sub-interpreters keep theirs. */
#include "language/python_adapter.h"

#include <dlfcn.h>
#include <string.h>

#include "heaptap/language.h"
#include "language/python_layout.h"

/* Same layout as PyMethodDef. The word number FUNCTION_METHOD in the object of a C function points
 * to its PyMethodDef. */
struct method {
    const char *name;
    void *(*function)(void *self, void *arguments);
    int flags;
    const char *text;
};

enum { DOMAIN_OBJ = 2, FUNCTION_METHOD = 2, NO_ARGUMENTS = 4 };

static struct {
    void (*get)(int domain, struct python_allocator *to);
    void (*set)(int domain, struct python_allocator *from);
    void *(*find_in_sys)(const char *name);
    int (*add_pending_call)(int (*function)(void *), void *context);
    const void *function_type;
} asked;
static const struct python_allocator *behind;
static void *(*our_malloc)(void *, size_t);
static struct method before, after;

static void *
stats(void *self, void *arguments)
{
    struct python_allocator now, was = *behind;
    void *result;

    asked.get(DOMAIN_OBJ, &now);
    // Under tracemalloc and similar tools the function writes nothing, with or without the adapter.
    if (now.malloc != our_malloc)
        return before.function(self, arguments);
    asked.set(DOMAIN_OBJ, &was);
    result = before.function(self, arguments);
    asked.set(DOMAIN_OBJ, &now);
    return result;
}

/* Replace sys._debugmallocstats. The interpreter calls this function as a pending call: between
 * instructions, with its lock held. */
static int
python_stats_exchange(void *nothing)
{
    void *function = asked.find_in_sys("_debugmallocstats");
    struct method **method;

    (void)nothing;
    if (function == NULL || python_pointer(function, PYTHON_OBJECT_TYPE) != asked.function_type)
        return 0;
    method = (struct method **)function + FUNCTION_METHOD;
    if (*method == &after || (*method)->flags != NO_ARGUMENTS ||
        strcmp((*method)->name, "_debugmallocstats") != 0)
        return 0;
    before = after = **method;
    after.function = stats;
    *method = &after;
    return 0;
}

/* Look up a function of the interpreter. The pointer is cast to the function's type before each
 * call. */
#define find(to, name) (*(void **)&(to) = dlsym(RTLD_DEFAULT, (name)))

void
python_stats_begin(void)
{
    find(asked.get, "PyMem_GetAllocator");
    find(asked.set, "PyMem_SetAllocator");
    find(asked.find_in_sys, "PySys_GetObject");
    find(asked.add_pending_call, "Py_AddPendingCall");
    asked.function_type = dlsym(RTLD_DEFAULT, "PyCFunction_Type");
}

void
python_stats_install(const struct python_allocator *b, void *(*ours)(void *, size_t))
{
    behind = b;
    our_malloc = ours;
    if (asked.get != NULL && asked.set != NULL && asked.find_in_sys != NULL &&
        asked.add_pending_call != NULL)
        asked.add_pending_call(python_stats_exchange, NULL);
}

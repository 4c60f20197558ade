/* next_linked.c: the allocator behind us in a static executable.
 *
 * There is no dynamic linker to ask. The program is linked with --wrap for each function that we
 * intercept: its calls of malloc, and those of the libraries in it, lead to __wrap_malloc, which is
 * ours, and what we call __real_malloc is the malloc that they would have called. So all is known
 * when the linker is done. Takes the place of next.c.
 *
 * What differs between C libraries is in next_glibc.c and next_musl.c, one of which is beside this
 * file in an archive. C++ has a member of the archive to itself: operators_linked.c.
 */
#include "monitor/next_linked.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "monitor/bypass.h"
#include "monitor/hook_names.h"
#include "monitor/operators_linked.h"
#include "monitor/state.h"
#include "monitor/staying.h"
#include "monitor/symbols.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
fork_fn __real_fork, __real__Fork;
int __real_sigaction(int, const struct sigaction *, struct sigaction *);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

/* What a static program loads is beyond us, and so is its unloading: see object_static.c. */
static int
linked_dlclose(void *handle)
{
    (void)handle;
    errno = ENOSYS;
    return -1;
}

struct next next = {
    .malloc = __real_malloc,
    .calloc = __real_calloc,
    .realloc = __real_realloc,
    .reallocarray = __real_reallocarray,
    .free = __real_free,
    .posix_memalign = linked_posix_memalign,
    .aligned_alloc = linked_aligned_alloc,
    .memalign = linked_memalign,
    .valloc = linked_valloc,
    .pvalloc = linked_pvalloc,
    .malloc_usable_size = linked_usable,
    .dlclose = linked_dlclose,
    .fork = __real_fork,
    .async_fork = __real__Fork,
};

struct next_operator next_operators[NEXT_OPERATOR_COUNT];

static void *
real_operator(const char *name)
{
    for (const struct linked_operator *o = heaptap_operators; o != NULL && o->name != NULL; o++)
        if (strcmp(name, o->name) == 0)
            return o->real;
    return NULL;
}

#define TAKE_OPERATOR(name, aligned, version)                                                      \
    next_operators[NEXT_##name].function = real_operator(#name);

/* All is known; what is left is to find out whether the allocator keeps to itself. That an operator
 * is plain nothing tells: it may be the program's own. */
void
next_resolve(void)
{
    NEXT_OPERATORS(TAKE_OPERATOR)
    if (next.calloc == __real_calloc && linked_usable_mode() != USABLE_GLIBC)
        staying_in_front(&next);
}

uint32_t
next_usable_mode(void)
{
    next_resolve();
    return linked_usable_mode();
}

/* Hooks are made of symbols that the dynamic linker looks up, and nothing is unloaded. */
void
hook_names_forget(void)
{
}

void
bypass_prepare(void)
{
}

void
bypass_look(uint64_t slot)
{
    (void)slot;
}

void
symbols_unload_begins(void)
{
}

void
symbols_unload_ends(void)
{
}

bool
next_is_sanitizer(void)
{
    return false; // No sanitizer supports static executables.
}

void *
next_symbol(const char *name)
{
    return strcmp(name, "sigaction") == 0 ? (void *)__real_sigaction : NULL;
}

/* behind_static.c: the allocator behind us in a static executable.
 *
 * There is no dynamic linker to ask. The program is linked with --wrap for each function that we
 * intercept: its calls of malloc, and those of the libraries in it, lead to __wrap_malloc, which is
 * ours, and what we call __real_malloc is the malloc that they would have called. So all is known
 * when the linker is done.
 *
 * What differs between C libraries is in behind_glibc.c and behind_musl.c, one of which is beside
 * this file in an archive. C++ has a member of the archive to itself: operators_static.c.
 */
#include "allocator/behind_static.h"

#include <signal.h>
#include <string.h>

#include "allocator/operators_static.h"
#include "platform/state.h"

int __real_sigaction(int, const struct sigaction *, struct sigaction *); // NOLINT: the linker's

struct behind_operator behind_operators[BEHIND_OPERATOR_COUNT];

static void *
real_operator(const char *name)
{
    for (const struct linked_operator *o = heaptap_operators; o != NULL && o->name != NULL; o++)
        if (strcmp(name, o->name) == 0)
            return o->real;
    return NULL;
}

#define TAKE_OPERATOR(name, aligned, version)                                                      \
    behind_operators[BEHIND_##name].function = real_operator(#name);

/* What is left is to find the operators. Nothing tells whether one is plain: it may be the
 * program's own. */
void
behind_resolve(void)
{
    BEHIND_OPERATORS(TAKE_OPERATOR)
}

bool
behind_calls_back(void)
{
    return linked_usable_mode() != USABLE_GLIBC;
}

size_t
behind_usable(const void *p)
{
    return linked_usable((void *)(uintptr_t)p);
}

uint32_t
behind_usable_mode(void)
{
    behind_resolve();
    return linked_usable_mode();
}

bool
behind_is_ours(void)
{
    return true;
}

bool
behind_is_sanitizer(void)
{
    return false; // No sanitizer supports static executables.
}

void *
behind_symbol(const char *name)
{
    return strcmp(name, "sigaction") == 0 ? (void *)__real_sigaction : NULL;
}

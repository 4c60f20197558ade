/* real_static.c: the real allocator in a static executable.
 *
 * There is no dynamic linker. The program is linked with --wrap for each function that the recorder
 * intercepts. Its calls of malloc, and those in its libraries, lead to the recorder's
 * __wrap_malloc; __real_malloc is the malloc that they would have called. So all functions are
 * known after linking.
 *
 * real_glibc.c and real_musl.c implement the differences between C libraries; an archive contains
 * one of them. C++ needs a further member of the archive, operators_static.c. */
#include "allocator/real_static.h"

#include <signal.h>
#include <string.h>

#include "allocator/operators_static.h"
#include "platform/state.h"

int __real_sigaction(int, const struct sigaction *, struct sigaction *); // NOLINT: the linker's

struct real_cxx_operator real_cxx_operators[REAL_OPERATOR_COUNT];

static void *
real_operator(const char *name)
{
    for (const struct linked_operator *o = heaptap_operators; o != NULL && o->name != NULL; o++)
        if (strcmp(name, o->name) == 0)
            return o->real;
    return NULL;
}

#define TAKE_OPERATOR(name, aligned, version)                                                      \
    real_cxx_operators[REAL_##name].function = real_operator(#name);

/* Resolve the operators. The linker has resolved all other functions. Treat no operator as plain,
 * because each may be the program's. */
void
real_resolve(void)
{
    REAL_OPERATORS(TAKE_OPERATOR)
}

bool
real_calls_back(void)
{
    return linked_usable_mode() != USABLE_GLIBC;
}

size_t
real_usable(const void *p)
{
    return linked_usable((void *)(uintptr_t)p);
}

uint32_t
real_usable_mode(void)
{
    real_resolve();
    return linked_usable_mode();
}

bool
real_is_ours(void)
{
    return true;
}

bool
real_is_sanitizer(void)
{
    return false; // No sanitizer supports static executables.
}

void *
real_symbol(const char *name)
{
    return strcmp(name, "sigaction") == 0 ? (void *)__real_sigaction : NULL;
}

/* real_attached.c: the real allocator of a process after an attach.
 *
 * The tool has found its functions and replaced their first instructions by jumps to the recorder.
 * The trampolines in the request execute these instructions and continue behind them, so they are
 * the real functions. The operators of an allocator are replaced too. Those of the C++ library are
 * not, because they call malloc and free. */
#include "allocator/real.h"

#include <string.h>

#include "format/attach_request.h"
#include "platform/attached.h"

struct real_cxx_operator real_cxx_operators[REAL_OPERATOR_COUNT];

static struct real_allocator functions_found;

#define TAKE(name)                                                                                 \
    memcpy(&functions_found.name, &heaptap_attach_request.functions[ATTACH_##name],                \
           sizeof functions_found.name);

#define TAKE_OPERATOR(name)                                                                        \
    memcpy(&real_cxx_operators[REAL_##name].function,                                              \
           &heaptap_attach_request.functions[ATTACH_##name],                                       \
           sizeof real_cxx_operators[REAL_##name].function);

void
real_resolve(void)
{
    ATTACH_FUNCTIONS(TAKE)
    ATTACH_OPERATORS(TAKE_OPERATOR)
    memcpy(&functions_found.malloc_usable_size, &heaptap_attach_request.usable_size,
           sizeof functions_found.malloc_usable_size);
}

const struct real_allocator *
real_functions(void)
{
    real_resolve();
    return &functions_found;
}

/* Other allocators than glibc's may call their own functions by name, and thus the recorder's. */
bool
real_calls_back(void)
{
    return heaptap_attach_request.is_glibc == 0;
}

size_t
real_usable(const void *p)
{
    return functions_found.malloc_usable_size((void *)(uintptr_t)p);
}

uint32_t
real_usable_mode(void)
{
    if (heaptap_attach_request.is_glibc != 0)
        return USABLE_GLIBC;
    return heaptap_attach_request.usable_size != 0 ? USABLE_CALL : USABLE_NONE;
}

bool
real_is_ours(void)
{
    return true;
}

/* The tool refuses processes with a sanitizer. */
bool
real_is_sanitizer(void)
{
    return false;
}

/* No function of the program is intercepted except the allocator's. */
void *
real_symbol(const char *name)
{
    (void)name;
    return NULL;
}

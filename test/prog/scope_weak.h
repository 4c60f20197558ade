/* scope_weak.h: code and data with weak references to functions. The code calls a function only if
 * its reference is not NULL. */
#ifndef SCOPE_WEAK_H
#define SCOPE_WEAK_H

#include "scope.h"

#define WEAK_NAMES(X)                                                                              \
    X(_Znwm)                                                                                       \
    X(_Znam)                                                                                       \
    X(_ZnwmRKSt9nothrow_t)                                                                         \
    X(_ZnamRKSt9nothrow_t)                                                                         \
    X(_ZnwmSt11align_val_t)                                                                        \
    X(_ZnamSt11align_val_t)                                                                        \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t)                                                          \
    X(_ZnamSt11align_val_tRKSt9nothrow_t)                                                          \
    X(_ZdlPv)                                                                                      \
    X(_ZdaPv)                                                                                      \
    X(_ZdlPvm)                                                                                     \
    X(_ZdaPvm)                                                                                     \
    X(_ZdlPvRKSt9nothrow_t)                                                                        \
    X(_ZdaPvRKSt9nothrow_t)                                                                        \
    X(_ZdlPvSt11align_val_t)                                                                       \
    X(_ZdaPvSt11align_val_t)                                                                       \
    X(_ZdlPvmSt11align_val_t)                                                                      \
    X(_ZdaPvmSt11align_val_t)                                                                      \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t)                                                         \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t)                                                         \
    X(free_sized)                                                                                  \
    X(free_aligned_sized)                                                                          \
    X(__sysv_signal)                                                                               \
    X(_Fork)

// Declared by their names in the object file, since headers may declare some.
#define WEAK_DECLARE(name) __attribute__((weak)) void *weak_##name() __asm__(#name);
#define WEAK_IN_DATA(name) (void *)weak_##name,
#define WEAK_IN_CODE(name) say(" %d%d", (void *)weak_##name != NULL, *in_data++ != NULL);

WEAK_NAMES(WEAK_DECLARE)

static void *volatile weak_data[] = {WEAK_NAMES(WEAK_IN_DATA)};

/* Allocate 1 block of 24 bytes if there are operators. */
SHOWN void
weak(void)
{
    void *volatile *in_data = weak_data;

    WEAK_NAMES(WEAK_IN_CODE)
    if (weak__Znwm && weak__ZdlPv)
        weak__ZdlPv(kept(weak__Znwm((size_t)24)));
    say("\n");
}

#endif

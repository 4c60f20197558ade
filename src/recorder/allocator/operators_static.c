/* operators_static.c: the C++ operators in a static executable.
 *
 * This file is a separate member of the archive. It refers to the C++ library's operators, so it
 * may be linked only if the program has such a library. The first call of an operator pulls it in.
 * But the only such calls may be in the C++ library, which comes later in the command line. Then
 * the link fails unless the member is requested (-u __wrap__Znwm), as the options for C++ do.
 *
 * shim.c implements the operators, with the prefix heaptap_wrap in that archive. They need their
 * true caller, so the functions here must end with a tail call, which becomes a jump. */
#include "allocator/operators_static.h"

#include "base/base.h"

typedef void *new_fn(size_t size_bytes, uintptr_t second, uintptr_t third);
typedef void delete_fn(void *p, uintptr_t second, uintptr_t third);

#define NEW_OPERATORS(each)                                                                        \
    each(_Znwm) each(_Znam) each(_ZnwmRKSt9nothrow_t) each(_ZnamRKSt9nothrow_t)                    \
        each(_ZnwmSt11align_val_t) each(_ZnamSt11align_val_t)                                      \
            each(_ZnwmSt11align_val_tRKSt9nothrow_t) each(_ZnamSt11align_val_tRKSt9nothrow_t)

#define DELETE_OPERATORS(each)                                                                     \
    each(_ZdlPv) each(_ZdaPv) each(_ZdlPvm) each(_ZdaPvm) each(_ZdlPvRKSt9nothrow_t)               \
        each(_ZdaPvRKSt9nothrow_t) each(_ZdlPvSt11align_val_t) each(_ZdaPvSt11align_val_t)         \
            each(_ZdlPvmSt11align_val_t) each(_ZdaPvmSt11align_val_t)                              \
                each(_ZdlPvSt11align_val_tRKSt9nothrow_t)                                          \
                    each(_ZdaPvSt11align_val_tRKSt9nothrow_t)

#define NEW(name)                                                                                  \
    new_fn __real_##name, heaptap_wrap##name, __wrap_##name;                                       \
    EXPORT void *__wrap_##name(size_t size_bytes, uintptr_t second, uintptr_t third)               \
    {                                                                                              \
        return heaptap_wrap##name(size_bytes, second, third);                                      \
    }

#define DELETE(name)                                                                               \
    delete_fn __real_##name, heaptap_wrap##name, __wrap_##name;                                    \
    EXPORT void __wrap_##name(void *p, uintptr_t second, uintptr_t third)                          \
    {                                                                                              \
        heaptap_wrap##name(p, second, third);                                                      \
    }

NEW_OPERATORS(NEW)
DELETE_OPERATORS(DELETE)

#define ROW(name) {#name, (void *)__real_##name},
const struct linked_operator heaptap_operators[] = {NEW_OPERATORS(ROW)
                                                        DELETE_OPERATORS(ROW){NULL, NULL}};

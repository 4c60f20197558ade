/* rlimit_interposed.c: shrinks the recorder's reservations when the program limits its address
 * space, as a shell does for `ulimit -v`.
 *
 * The recorder must do so at once (account/limit.c). Otherwise the program's next mmap would fail
 * and its stack could not grow. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "access/counted_blocks.h"
#include "account/limit.h"
#include "allocator/real.h"
#include "platform/sys.h"

/* React to a limit of RESOURCE to *NEW_LIMIT. Call before the limit is set, because another thread
 * may need address space right afterwards. Leave an unreadable pointer to the kernel. A quiet
 * process cannot test the pointer, because the test needs a system call, so it trusts the
 * pointer. */
static void
rlimit_follow(int resource, const rlim_t *new_limit)
{
    if (resource == RLIMIT_AS && new_limit != NULL &&
        (sys_is_quiet() || sys_is_readable((uintptr_t)new_limit)))
        limit_follow(*new_limit);
}

static int
missing(void)
{
    errno = ENOSYS;
    return -1;
}

#define SETRLIMIT(name, limits)                                                                    \
    EXPORT int name(__rlimit_resource_t resource, const struct limits *new)                        \
    {                                                                                              \
        typedef int name##_fn(__rlimit_resource_t, const struct limits *);                         \
        static void *cache;                                                                        \
        name##_fn *f = (name##_fn *)real_cached(&cache, #name);                                    \
                                                                                                   \
        rlimit_follow((int)resource, &new->rlim_cur);                                              \
        access_used(new, sizeof *new, NULL, 0);                                                    \
        return f != NULL ? f(resource, new) : missing();                                           \
    }

#define PRLIMIT(name, limits)                                                                      \
    EXPORT int name(pid_t pid, enum __rlimit_resource resource, const struct limits *new,          \
                    struct limits *ret_old)                                                        \
    {                                                                                              \
        typedef int name##_fn(pid_t, enum __rlimit_resource, const struct limits *,                \
                              struct limits *);                                                    \
        static void *cache;                                                                        \
        name##_fn *f = (name##_fn *)real_cached(&cache, #name);                                    \
                                                                                                   \
        if (pid == 0 || sys_is_process((uint32_t)pid))                                             \
            rlimit_follow((int)resource, &new->rlim_cur);                                          \
        access_used(new, sizeof *new, ret_old, sizeof *ret_old);                                   \
        return f != NULL ? f(pid, resource, new, ret_old) : missing();                             \
    }

SETRLIMIT(setrlimit, rlimit)
SETRLIMIT(setrlimit64, rlimit64)
PRLIMIT(prlimit, rlimit)
PRLIMIT(prlimit64, rlimit64)

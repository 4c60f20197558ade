/* rlimit_dynamic.c: the program limits its own address space, as a shell does by `ulimit -v`.
 *
 * The recorder's tables have gigabytes of it from the start on, untouched, and all of that counts:
 * the next mmap of the program would fail, and its stack could not grow. So when such a limit has
 * been set, what is more than a recorder would take that starts under it is given back. If the
 * limit is lifted again the tables stay as they are. A limit that another process sets is not seen.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "account/file.h"
#include "allocator/behind.h"
#include "platform/sys.h"

/* Not for a child made by vfork, whose memory is its parent's. */
static void
follow_limit(void)
{
    uint64_t limit;

    if (state == NULL || load_acquire(&state->ready) != READY_YES ||
        state->header->pid != (uint32_t)sys_getpid())
        return;
    limit = sys_limit(RLIMIT_AS);
    if (limit != UINT64_MAX)
        file_give_back(limit);
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
        name##_fn *f = (name##_fn *)behind_cached(&cache, #name);                                  \
        int result = f != NULL ? f(resource, new) : missing();                                     \
                                                                                                   \
        if (result == 0 && (int)resource == RLIMIT_AS)                                             \
            follow_limit();                                                                        \
        return result;                                                                             \
    }

#define PRLIMIT(name, limits)                                                                      \
    EXPORT int name(pid_t pid, enum __rlimit_resource resource, const struct limits *new,          \
                    struct limits *ret_old)                                                        \
    {                                                                                              \
        typedef int name##_fn(pid_t, enum __rlimit_resource, const struct limits *,                \
                              struct limits *);                                                    \
        static void *cache;                                                                        \
        name##_fn *f = (name##_fn *)behind_cached(&cache, #name);                                  \
        int result = f != NULL ? f(pid, resource, new, ret_old) : missing();                       \
                                                                                                   \
        if (result == 0 && (int)resource == RLIMIT_AS && new != NULL)                              \
            follow_limit();                                                                        \
        return result;                                                                             \
    }

SETRLIMIT(setrlimit, rlimit)
SETRLIMIT(setrlimit64, rlimit64)
PRLIMIT(prlimit, rlimit)
PRLIMIT(prlimit64, rlimit64)

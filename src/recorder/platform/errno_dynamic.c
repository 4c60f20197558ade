/* errno_dynamic.c: where errno is, by libc's own function and nobody else's.
 *
 * errno is written where a function of ours fails, and kept by handlers. A program may have a
 * function of that name, which is then not to be called from within malloc; so ours, which is
 * hidden, is the one that this name means here, and it asks libc's.
 *
 * In a static program whoever has the name has it for libc too, so this file is not there.
 *
 * Signal-safe: looks at mapped objects only, and two threads find the same.
 */
#include <errno.h>

#include "base/atomics.h"
#include "platform/process.h"

typedef int *errno_fn(void);

static int nowhere; // Takes what is written where there is no libc, which cannot be.

static int *
errno_nowhere(void)
{
    return &nowhere;
}

static COLD errno_fn *
find(void)
{
    void *f = process_libc_function("__errno_location");

    return f != NULL ? (errno_fn *)f : errno_nowhere;
}

int *
__errno_location(void)
{
    static errno_fn *known; // Atomic.
    errno_fn *f = load_acquire(&known);

    if (unlikely(f == NULL)) {
        f = find();
        store_release(&known, f);
    }
    return f();
}

/* errno_dynamic.c: finds errno by libc's own function.
 *
 * The recorder sets errno where an intercepted function fails, and its signal handlers save it. A
 * program may define a function named __errno_location, which must not be called from within
 * malloc. So the recorder defines a hidden function of that name, which calls libc's.
 *
 * A static program has only one function of that name, libc's or a replacement that libc itself
 * uses, so it does without this file.
 *
 * Async-signal-safe: reads mapped objects only. Threads that run this concurrently store equal
 * values. */
#include <errno.h>

#include "base/atomics.h"
#include "platform/process.h"

typedef int *errno_fn(void);

static int fallback; // errno if the search finds no libc, which cannot happen.

static int *
errno_fallback(void)
{
    return &fallback;
}

static COLD errno_fn *
errno_find(void)
{
    void *f = process_libc_function("__errno_location");

    return f != NULL ? (errno_fn *)f : errno_fallback;
}

int *
__errno_location(void)
{
    static errno_fn *known; // Atomic.
    errno_fn *f = load_acquire(&known);

    if (unlikely(f == NULL)) {
        f = errno_find();
        store_release(&known, f);
    }
    return f();
}

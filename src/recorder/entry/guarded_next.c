/* guarded_next.c: guards calls of a real allocator whose functions call one another.
 *
 * An allocator's calloc may call malloc, its malloc may call memalign, and its realloc may call
 * malloc and free, by names that lead to the recorder. musl's functions do so in a static program,
 * and so do many allocators that programs include. Only the outer call is an event; the inner call
 * is not. So a guard sets the state REENTRY_IN_REAL while the outer call runs. This state
 * distinguishes inner requests from the result of the outer call (event/reentry.c), and inner
 * requests are not charged (gate.h). glibc's functions make no such calls and are called directly.
 *
 * reallocarray has no guard here, because shim.c always assumes that it calls realloc. */
#include "entry/entry.h"

#include "base/atomics.h"
#include "event/reentry.h"
#include "platform/arch_x86_64.h"

static struct real_allocator behind;

/* Return the guard for a call from SLOT for SIZE_BYTES. */
static inline struct reentry_call
begin(size_t size_bytes, uint64_t slot)
{
    struct reentry_call c = reentry_guard(REENTRY_NO_EVENT, (struct arch_caller){.slot = slot});

    if (reentry_is_idle())
        reentry_save_credit(&c, size_bytes);
    reentry_real_begin(&c);
    return c;
}

#define GUARD(size_bytes) REENTRY_CALL(call) = begin(size_bytes, ARCH_SLOT())

static void *
guarded_calloc(size_t count, size_t each_bytes)
{
    GUARD(count * each_bytes);
    void *p = behind.calloc(count, each_bytes);

    reentry_real_end(&call, p);
    return p;
}

static void *
guarded_realloc(void *old, size_t size_bytes)
{
    GUARD(size_bytes);
    void *p = behind.realloc(old, size_bytes);

    reentry_real_end(&call, p);
    return p;
}

static int
guarded_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    GUARD(size_bytes);
    int error = behind.posix_memalign(ret_p, align, size_bytes);

    reentry_real_end(&call, error == 0 ? *ret_p : NULL);
    return error;
}

static void
guarded_free(void *p)
{
    GUARD(0);

    behind.free(p);
    reentry_real_end(&call, NULL);
}

#define ALIGNED(name)                                                                              \
    static void *guarded_##name(size_t align, size_t size_bytes)                                   \
    {                                                                                              \
        GUARD(size_bytes);                                                                         \
        void *p = behind.name(align, size_bytes);                                                  \
                                                                                                   \
        reentry_real_end(&call, p);                                                                \
        return p;                                                                                  \
    }

#define SIZED(name)                                                                                \
    static void *guarded_##name(size_t size_bytes)                                                 \
    {                                                                                              \
        GUARD(size_bytes);                                                                         \
        void *p = behind.name(size_bytes);                                                         \
                                                                                                   \
        reentry_real_end(&call, p);                                                                \
        return p;                                                                                  \
    }

ALIGNED(aligned_alloc)
ALIGNED(memalign)
SIZED(malloc)
SIZED(valloc)
SIZED(pvalloc)

void
guarded_next_in_front(struct real_allocator *n)
{
    behind = *n;
    signal_fence(); // Store the originals before the replacements: a function may be called as soon
                    // as it is in the table.
    n->malloc = guarded_malloc;
    n->free = guarded_free;
    n->calloc = guarded_calloc;
    n->realloc = guarded_realloc;
    n->posix_memalign = guarded_posix_memalign;
    n->aligned_alloc = guarded_aligned_alloc;
    n->memalign = guarded_memalign;
    n->valloc = guarded_valloc;
    n->pvalloc = guarded_pvalloc;
}

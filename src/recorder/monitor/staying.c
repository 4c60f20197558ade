/* staying.c: functions of the next allocator that are made of others.
 *
 * An allocator's calloc may call malloc, its malloc memalign, its realloc malloc and free, by names
 * that lead to us: musl's do when the program is static, and so do many that a program brings. Such
 * a call is no event; the one that made it is. So while it runs tls.busy is BUSY_NEXT (state.h),
 * what it asks of us is told from what it returns (nest.c), and nothing is charged (gate.h).
 * glibc's keep to themselves and are called as they are.
 *
 * reallocarray is not here: shim.c takes it for one that calls realloc in any case.
 */
#include "monitor/staying.h"

#include "base/atomics.h"
#include "monitor/arch_x86_64.h"
#include "monitor/draw.h"
#include "monitor/nest.h"
#include "monitor/state.h"
#include "monitor/stay.h"

static struct next behind;

struct staying {
    uint32_t busy, change; // Of tls, before.
    uint32_t mark;
    int64_t credit;
    const void *result; // NULL also when an exception passes.
};

static inline struct staying
begin(size_t size_bytes, uint64_t slot)
{
    struct staying s = {.busy = tls.busy, .change = tls.change, .credit = tls.credit};

    if (s.busy == BUSY_NO) {
        s.mark = nest_mark();
        tls.credit += (int64_t)draw_charge(size_bytes, tls.charge_mask) + INNER_MORE_BYTES;
        tls.entered = slot;
        tls.busy = BUSY_NEXT;
    }
    signal_fence();
    return s;
}

static inline void
end(const struct staying *s)
{
    signal_fence();
    if (s->busy != BUSY_NO)
        return;
    nest_settles(s->mark, s->result);
    tls.busy = BUSY_NO;
    if (tls.change == s->change)
        tls.credit = s->credit;
}

#define STAYING(name, size_bytes)                                                                  \
    struct staying name __attribute__((cleanup(end))) = begin(size_bytes, ARCH_SLOT())

static void *
staying_calloc(size_t count, size_t each_bytes)
{
    STAYING(s, count * each_bytes);
    void *p = behind.calloc(count, each_bytes);

    s.result = p;
    return p;
}

static void *
staying_realloc(void *old, size_t size_bytes)
{
    STAYING(s, size_bytes);
    void *p = behind.realloc(old, size_bytes);

    s.result = p;
    return p;
}

static int
staying_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    STAYING(s, size_bytes);
    int error = behind.posix_memalign(ret_p, align, size_bytes);

    s.result = error == 0 ? *ret_p : NULL;
    return error;
}

static void
staying_free(void *p)
{
    STAYING(s, 0);

    behind.free(p);
}

#define ALIGNED(name)                                                                              \
    static void *staying_##name(size_t align, size_t size_bytes)                                   \
    {                                                                                              \
        STAYING(s, size_bytes);                                                                    \
        void *p = behind.name(align, size_bytes);                                                  \
                                                                                                   \
        s.result = p;                                                                              \
        return p;                                                                                  \
    }

#define SIZED(name)                                                                                \
    static void *staying_##name(size_t size_bytes)                                                 \
    {                                                                                              \
        STAYING(s, size_bytes);                                                                    \
        void *p = behind.name(size_bytes);                                                         \
                                                                                                   \
        s.result = p;                                                                              \
        return p;                                                                                  \
    }

ALIGNED(aligned_alloc)
ALIGNED(memalign)
SIZED(malloc)
SIZED(valloc)
SIZED(pvalloc)

void
staying_in_front(struct next *n)
{
    behind = *n;
    signal_fence(); // One of ours may be called as soon as it is there.
    n->malloc = staying_malloc;
    n->free = staying_free;
    n->calloc = staying_calloc;
    n->realloc = staying_realloc;
    n->posix_memalign = staying_posix_memalign;
    n->aligned_alloc = staying_aligned_alloc;
    n->memalign = staying_memalign;
    n->valloc = staying_valloc;
    n->pvalloc = staying_pvalloc;
}

alloc_fn *
staying_malloc_behind(const struct next *n)
{
    return n->malloc == staying_malloc ? behind.malloc : n->malloc;
}

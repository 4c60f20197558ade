/* outcall_next.c: functions of a next allocator that call one another.
 *
 * An allocator's calloc may call malloc, its malloc memalign, its realloc malloc and free, by names
 * that lead to the recorder. musl's do when the program is static, and so do many that a program
 * brings. Such a call is no event; the outer call is. So tls.busy is BUSY_NEXT (state.h) while the
 * outer call runs, which distinguishes inner requests from its result (nest.c), and inner requests
 * are not charged (gate.h). glibc's functions do not do this and are called directly.
 *
 * reallocarray is not here: shim.c always assumes that it calls realloc. */
#include "entry/outcall_next.h"

#include "base/atomics.h"
#include "entry/outcall.h"
#include "event/nest.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"
#include "sampling/draw.h"

static struct next behind;

struct outcall_next {
    uint32_t busy, change; // The values in tls before.
    uint32_t mark;
    int64_t credit, reserve;
    const void *result; // NULL also when an exception passes.
};

static inline struct outcall_next
begin(size_t size_bytes, uint64_t slot)
{
    struct outcall_next s = {
        .busy = tls.busy, .change = tls.change, .credit = tls.credit, .reserve = tls.reserve};

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
end(const struct outcall_next *s)
{
    signal_fence();
    if (s->busy != BUSY_NO)
        return;
    nest_settles(s->mark, s->result);
    tls.busy = BUSY_NO;
    if (tls.change != s->change)
        return;
    tls.credit = s->credit;
    tls.reserve = s->reserve;
}

#define OUTCALL_NEXT(name, size_bytes)                                                             \
    struct outcall_next name __attribute__((cleanup(end), unused)) = begin(size_bytes, ARCH_SLOT())

static void *
outcall_next_calloc(size_t count, size_t each_bytes)
{
    OUTCALL_NEXT(s, count * each_bytes);
    void *p = behind.calloc(count, each_bytes);

    s.result = p;
    return p;
}

static void *
outcall_next_realloc(void *old, size_t size_bytes)
{
    OUTCALL_NEXT(s, size_bytes);
    void *p = behind.realloc(old, size_bytes);

    s.result = p;
    return p;
}

static int
outcall_next_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    OUTCALL_NEXT(s, size_bytes);
    int error = behind.posix_memalign(ret_p, align, size_bytes);

    s.result = error == 0 ? *ret_p : NULL;
    return error;
}

static void
outcall_next_free(void *p)
{
    OUTCALL_NEXT(s, 0);

    behind.free(p);
}

#define ALIGNED(name)                                                                              \
    static void *outcall_next_##name(size_t align, size_t size_bytes)                              \
    {                                                                                              \
        OUTCALL_NEXT(s, size_bytes);                                                               \
        void *p = behind.name(align, size_bytes);                                                  \
                                                                                                   \
        s.result = p;                                                                              \
        return p;                                                                                  \
    }

#define SIZED(name)                                                                                \
    static void *outcall_next_##name(size_t size_bytes)                                            \
    {                                                                                              \
        OUTCALL_NEXT(s, size_bytes);                                                               \
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
outcall_next_in_front(struct next *n)
{
    behind = *n;
    signal_fence(); // A function may be called as soon as it is in the table.
    n->malloc = outcall_next_malloc;
    n->free = outcall_next_free;
    n->calloc = outcall_next_calloc;
    n->realloc = outcall_next_realloc;
    n->posix_memalign = outcall_next_posix_memalign;
    n->aligned_alloc = outcall_next_aligned_alloc;
    n->memalign = outcall_next_memalign;
    n->valloc = outcall_next_valloc;
    n->pvalloc = outcall_next_pvalloc;
}

/* staying.c: functions of the next allocator that are made of others.
 *
 * An allocator's calloc may call malloc, its posix_memalign aligned_alloc, its realloc malloc and
 * free, by names that lead to us: musl's do when the program is static, and so do many that a
 * program brings. Such a call is no event; the one that made it is. So while it runs tls.busy is
 * BUSY_NEXT (state.h), and nothing is charged (sample.h). glibc's keep to themselves and are called
 * as they are.
 *
 * reallocarray is not here: shim.c takes it for one that calls realloc in any case.
 */
#include "monitor/staying.h"

#include "base/atomics.h"
#include "monitor/arch_x86_64.h"
#include "monitor/draw.h"
#include "monitor/state.h"

enum { INNER_MORE_BYTES = 4096 }; // By which an inner call may ask for more, to align.

static struct next behind;

struct staying {
    uint32_t busy, change; // Of tls, before.
    int64_t credit;
};

static inline struct staying
begin(size_t size_bytes, uint64_t slot)
{
    struct staying s = {tls.busy, tls.change, tls.credit};

    if (s.busy == BUSY_NO) {
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
    tls.busy = BUSY_NO;
    if (tls.change == s->change)
        tls.credit = s->credit;
}

static void *
staying_calloc(size_t count, size_t each_bytes)
{
    struct staying s = begin(count * each_bytes, ARCH_SLOT());
    void *p = behind.calloc(count, each_bytes);

    end(&s);
    return p;
}

static void *
staying_realloc(void *old, size_t size_bytes)
{
    struct staying s = begin(size_bytes, ARCH_SLOT());
    void *p = behind.realloc(old, size_bytes);

    end(&s);
    return p;
}

static int
staying_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    struct staying s = begin(size_bytes, ARCH_SLOT());
    int error = behind.posix_memalign(ret_p, align, size_bytes);

    end(&s);
    return error;
}

static void *
staying_malloc(size_t size_bytes)
{
    struct staying s = begin(size_bytes, ARCH_SLOT());
    void *p = behind.malloc(size_bytes);

    end(&s);
    return p;
}

static void
staying_free(void *p)
{
    struct staying s = begin(0, ARCH_SLOT());

    behind.free(p);
    end(&s);
}

#define ALIGNED(name)                                                                              \
    static void *staying_##name(size_t align, size_t size_bytes)                                   \
    {                                                                                              \
        struct staying s = begin(size_bytes, ARCH_SLOT());                                         \
        void *p = behind.name(align, size_bytes);                                                  \
                                                                                                   \
        end(&s);                                                                                   \
        return p;                                                                                  \
    }

#define PAGED(name)                                                                                \
    static void *staying_##name(size_t size_bytes)                                                 \
    {                                                                                              \
        struct staying s = begin(size_bytes, ARCH_SLOT());                                         \
        void *p = behind.name(size_bytes);                                                         \
                                                                                                   \
        end(&s);                                                                                   \
        return p;                                                                                  \
    }

ALIGNED(aligned_alloc)
ALIGNED(memalign)
PAGED(valloc)
PAGED(pvalloc)

void
staying_in_front(struct next *n)
{
    behind = *n;
    signal_fence(); // One of ours may be called as soon as it is there.
    n->calloc = staying_calloc;
    n->realloc = staying_realloc;
    n->posix_memalign = staying_posix_memalign;
    n->aligned_alloc = staying_aligned_alloc;
    n->memalign = staying_memalign;
    n->valloc = staying_valloc;
    n->pvalloc = staying_pvalloc;
}

void
staying_in_front_of_all(struct next *n)
{
    if (n->calloc != staying_calloc)
        return;
    n->malloc = staying_malloc;
    n->free = staying_free;
}

alloc_fn *
staying_malloc_behind(const struct next *n)
{
    return n->malloc == staying_malloc ? behind.malloc : n->malloc;
}

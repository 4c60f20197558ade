/* next_musl.c: the allocator behind us in a static executable with musl.
 *
 * Two things differ from glibc. Each function has an object of its own, so that weak references
 * would pull nothing in: these are strong. And some are made of others: calloc calls malloc,
 * posix_memalign calls aligned_alloc, by names that the linker has turned into ours. Such a call is
 * no event, so it is made with tls.busy at BUSY_NEXT (state.h), and charged to nobody (sample.h).
 *
 * malloc_usable_size is musl's unless the program has one, so it may only be asked if malloc is
 * musl's too. That has no other name, but lies beside the function behind it.
 */
#include "monitor/next_linked.h"

#include <errno.h>

#include "base/atomics.h"
#include "monitor/arch_x86_64.h"
#include "monitor/draw.h"
#include "monitor/state.h"

posix_memalign_fn __real_posix_memalign;
memalign_fn __real_aligned_alloc, __real_memalign;
alloc_fn __real_valloc;
usable_fn __real_malloc_usable_size;
extern __attribute__((weak)) alloc_fn __libc_malloc;

enum {
    BESIDE_BYTES = 64,
    INNER_MORE_BYTES = 4096, // By which an inner call may ask for more, to align.
};

struct stay {
    uint32_t busy, change; // Of tls, before.
    int64_t credit;
};

static inline struct stay
begin(size_t size_bytes, uint64_t slot)
{
    struct stay s = {tls.busy, tls.change, tls.credit};

    if (s.busy == BUSY_NO) {
        tls.credit += (int64_t)draw_charge(size_bytes, tls.charge_mask) + INNER_MORE_BYTES;
        tls.entered = slot;
        tls.busy = BUSY_NEXT;
    }
    signal_fence();
    return s;
}

static inline void
end(const struct stay *s)
{
    signal_fence();
    if (s->busy != BUSY_NO)
        return;
    tls.busy = BUSY_NO;
    if (tls.change == s->change)
        tls.credit = s->credit;
}

void *
linked_calloc(size_t count, size_t each_bytes)
{
    struct stay s = begin(count * each_bytes, ARCH_SLOT());
    void *p = __real_calloc(count, each_bytes);

    end(&s);
    return p;
}

int
linked_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    struct stay s = begin(size_bytes, ARCH_SLOT());
    int error = __real_posix_memalign(ret_p, align, size_bytes);

    end(&s);
    return error;
}

void *
linked_aligned_alloc(size_t align, size_t size_bytes)
{
    struct stay s = begin(size_bytes, ARCH_SLOT());
    void *p = __real_aligned_alloc(align, size_bytes);

    end(&s);
    return p;
}

void *
linked_memalign(size_t align, size_t size_bytes)
{
    struct stay s = begin(size_bytes, ARCH_SLOT());
    void *p = __real_memalign(align, size_bytes);

    end(&s);
    return p;
}

void *
linked_valloc(size_t size_bytes)
{
    struct stay s = begin(size_bytes, ARCH_SLOT());
    void *p = __real_valloc(size_bytes);

    end(&s);
    return p;
}

/* There is none; only a program that does without its header can call it. */
void *
linked_pvalloc(size_t size_bytes)
{
    (void)size_bytes;
    errno = ENOMEM;
    return NULL;
}

size_t
linked_usable(void *p)
{
    return __real_malloc_usable_size(p);
}

uint32_t
linked_usable_mode(void)
{
    uintptr_t away = (uintptr_t)__real_malloc - (uintptr_t)__libc_malloc + BESIDE_BYTES;

    return __libc_malloc != NULL && away <= 2 * BESIDE_BYTES ? USABLE_CALL : USABLE_NONE;
}

/* padded.c: asking the allocator for a little more.
 *
 * Each call asks for the block and a word behind it (facts.h). With granules of 64 bytes it also
 * asks for an alignment of 64, without which neighbours would share a granule; with smaller ones
 * the alignment that every allocator gives is enough. A call that must fail, or that means
 * something special (realloc to no bytes), is passed on as it is.
 *
 * What malloc_usable_size says ends where the facts begin.
 */
#include "access/padded.h"

#include <errno.h>
#include <string.h>

#include "access/facts.h"
#include "access/shadow.h"
#include "account/ledger.h"

static struct next behind;

/* The alignment that blocks need beyond the allocator's own; 0 = none. */
static inline size_t
needed_alignment(void)
{
    return unlikely(shadow.granule_bytes > 16) ? shadow.granule_bytes : 0;
}

static void *
no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

static void *
padded_malloc(size_t size_bytes)
{
    size_t align = needed_alignment(), padded = facts_padded(size_bytes);

    return align == 0 ? behind.malloc(padded) : behind.memalign(align, padded);
}

static void *
padded_calloc(size_t count, size_t each_bytes)
{
    size_t align = needed_alignment(), size_bytes;
    void *p;

    if (__builtin_mul_overflow(count, each_bytes, &size_bytes) || size_bytes > PTRDIFF_MAX - 64)
        return no_memory();
    if (align == 0)
        return behind.calloc(1, facts_end(size_bytes));
    p = behind.memalign(align, facts_end(size_bytes));
    return p != NULL ? memset(p, 0, size_bytes) : NULL;
}

/* realloc by a block of its own, because the allocator's keeps no alignment. */
static void *
move_aligned(void *p, size_t align, size_t size_bytes)
{
    size_t there = behind.malloc_usable_size(p);
    void *q = behind.memalign(align, facts_padded(size_bytes));

    if (q == NULL)
        return NULL;
    memcpy(q, p, there < size_bytes ? there : size_bytes);
    behind.free(p);
    return q;
}

static void *
padded_realloc(void *p, size_t size_bytes)
{
    size_t align = needed_alignment();

    if (p == NULL)
        return padded_malloc(size_bytes);
    if (size_bytes == 0 || align == 0)
        return behind.realloc(p, size_bytes == 0 ? 0 : facts_padded(size_bytes));
    return move_aligned(p, align, size_bytes);
}

static void *
padded_reallocarray(void *p, size_t count, size_t each_bytes)
{
    size_t size_bytes;

    if (__builtin_mul_overflow(count, each_bytes, &size_bytes))
        return no_memory();
    return padded_realloc(p, size_bytes);
}

static int
padded_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    size_t needed = needed_alignment();

    return behind.posix_memalign(ret_p, align < needed ? needed : align,
                                 facts_padded(size_bytes));
}

#define ALIGNED(name)                                                                              \
    static void *padded_##name(size_t align, size_t size_bytes)                                    \
    {                                                                                              \
        size_t needed = needed_alignment();                                                        \
                                                                                                   \
        return behind.name(align < needed ? needed : align, facts_padded(size_bytes));             \
    }

#define PAGED(name)                                                                                \
    static void *padded_##name(size_t size_bytes)                                                  \
    {                                                                                              \
        return behind.name(facts_padded(size_bytes));                                              \
    }

ALIGNED(aligned_alloc)
ALIGNED(memalign)
PAGED(valloc)
PAGED(pvalloc)

static size_t
padded_usable(void *p)
{
    uint32_t *slot;
    uint32_t entry;

    if (p == NULL || state == NULL || load_acquire(&state->ready) != READY_YES ||
        state->ledger_plain != state->ledger || ((uintptr_t)p & 15) != 0)
        return behind.malloc_usable_size(p);
    slot = ledger_slot((uintptr_t)p);
    entry = slot != NULL ? load_relaxed(slot) : 0;
    if (!ledger_is_plain(entry, p))
        return behind.malloc_usable_size(p);
    return round_up(ledger_plain_size(entry, p), FACTS_BYTES);
}

void
padded_in_front(struct next *n)
{
    behind = *n;
    n->malloc = padded_malloc;
    n->calloc = padded_calloc;
    n->realloc = padded_realloc;
    n->reallocarray = padded_reallocarray;
    n->posix_memalign = padded_posix_memalign;
    n->aligned_alloc = padded_aligned_alloc;
    n->memalign = padded_memalign;
    n->valloc = padded_valloc;
    n->pvalloc = padded_pvalloc;
    n->malloc_usable_size = padded_usable;
}

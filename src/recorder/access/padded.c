/* padded.c: requests larger blocks, with room for facts.
 *
 * Each call requests the block and a word after it (facts.h). With granules of 64 bytes a block
 * must also be aligned to 64, or neighbours would share a granule. For smaller granules every
 * allocator's alignment suffices. Requesting an alignment is slow and leaves gaps. But if the
 * allocator gets only sizes that are multiples of 64, each block that follows an aligned one is
 * aligned. So padded_malloc requests such a size, and requests an alignment only if the result is
 * not aligned.
 *
 * A call that must fail, or that has a special meaning (realloc to no bytes), is passed on
 * unchanged.
 *
 * malloc_usable_size returns the size up to the facts, if the ledger's entry gives their position.
 * For blocks with more slack it returns the allocator's whole size, because the rest of the page
 * belongs to the caller of pvalloc. A program that uses this size overwrites the facts, and the
 * time of the block's allocation becomes unknown. */
#include "access/counted_objects.h"

#include <errno.h>
#include <string.h>

#include "access/facts.h"
#include "access/shadow.h"
#include "base/atomics.h"
#include "ledger/ledger.h"
#include "ledger/ledger_side.h"
#include "ledger/ledger_state.h"

static struct real_allocator unpadded;

/* For this size and above, the allocator may use a mapping, whose blocks are never aligned to
 * 64. */
enum { MAPPING_BYTES = 64 << 10 };

/* Maximum size and number of unaligned blocks that padded_give_back never frees. */
enum { KEPT_BYTES = 1024, KEPT_MAX = 1024 };

/* Return the alignment that blocks need beyond the allocator's; 0 = none. */
static inline size_t
needed_alignment(void)
{
    return unlikely(shadow.granule_bytes > 16) ? shadow.granule_bytes : 0;
}

/* Return the size to request for a block of SIZE_BYTES. If blocks need an alignment, make the size
 * of glibc's chunk a multiple of that alignment. */
static inline size_t
padded(size_t size_bytes)
{
    size_t align = needed_alignment(), bytes = facts_padded(size_bytes);

    return align == 0 || bytes == size_bytes ? bytes : round_up(bytes + 8, align) - 8;
}

static inline bool
is_aligned(const void *p)
{
    return ((uintptr_t)p & (needed_alignment() - 1)) == 0;
}

static void *
padded_no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

/* Free the unaligned block P of SIZE_BYTES, but never free the first KEPT_MAX small blocks. If such
 * a block were freed, the allocator would return it again for each further request of its size.
 * While it is in use, the allocator makes new blocks, which follow an aligned one. */
static void
padded_give_back(void *p, size_t size_bytes)
{
    static uint32_t kept; // Atomic: number of blocks that were not freed.

    if (size_bytes > KEPT_BYTES || add_relaxed(&kept, 1u) >= KEPT_MAX)
        unpadded.free(p);
}

static NOINLINE void *
malloc_aligned(size_t size_bytes)
{
    void *p = size_bytes < MAPPING_BYTES ? unpadded.malloc(padded(size_bytes)) : NULL;

    if (p != NULL && is_aligned(p))
        return p;
    if (p != NULL)
        padded_give_back(p, size_bytes);
    return unpadded.memalign(needed_alignment(), padded(size_bytes));
}

static void *
padded_malloc(size_t size_bytes)
{
    return likely(needed_alignment() == 0) ? unpadded.malloc(padded(size_bytes))
                                           : malloc_aligned(size_bytes);
}

static NOINLINE void *
calloc_aligned(size_t size_bytes)
{
    void *p = malloc_aligned(size_bytes);

    // A block in a new mapping is already zero.
    if (p != NULL && (real_usable_mode() != USABLE_GLIBC ||
                      (((const uint64_t *)p)[-1] & FACTS_MMAPPED) == 0))
        memset(p, 0, size_bytes);
    return p;
}

static void *
padded_calloc(size_t count, size_t each_bytes)
{
    size_t size_bytes;

    if (__builtin_mul_overflow(count, each_bytes, &size_bytes) || size_bytes > PTRDIFF_MAX - 128)
        return padded_no_memory();
    return likely(needed_alignment() == 0) ? unpadded.calloc(1, padded(size_bytes))
                                           : calloc_aligned(size_bytes);
}

/* Move the SIZE_BYTES in use of P, which is not aligned, to an aligned block. Return the new block;
 * P if there is no memory. */
static void *
padded_moved(void *p, size_t size_bytes)
{
    void *q = unpadded.memalign(needed_alignment(), padded(size_bytes));

    if (q == NULL)
        return p; // Without memory return P itself: sharing counters with neighbours is better than
                  // a failure.
    memcpy(q, p, size_bytes);
    unpadded.free(p);
    return q;
}

static void *
padded_realloc(void *p, size_t size_bytes)
{
    void *q;

    if (p == NULL)
        return padded_malloc(size_bytes);
    q = unpadded.realloc(p, size_bytes == 0 ? 0 : padded(size_bytes));
    return q == NULL || needed_alignment() == 0 || is_aligned(q) ? q : padded_moved(q, size_bytes);
}

static void *
padded_reallocarray(void *p, size_t count, size_t each_bytes)
{
    size_t size_bytes;

    if (__builtin_mul_overflow(count, each_bytes, &size_bytes))
        return padded_no_memory();
    return padded_realloc(p, size_bytes);
}

/* Return the alignment to request instead of ALIGN. It must be a power of two and at least
 * LEAST. */
static inline size_t
raised(size_t align, size_t least)
{
    size_t needed = needed_alignment();

    return align >= needed || align < least || (align & (align - 1)) != 0 ? align : needed;
}

static int
padded_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    return unpadded.posix_memalign(ret_p, raised(align, sizeof(void *)), padded(size_bytes));
}

static void *
padded_aligned_alloc(size_t align, size_t size_bytes)
{
    return unpadded.aligned_alloc(raised(align, 1), padded(size_bytes));
}

/* Allocate for memalign, which accepts an alignment that is not a power of two. */
static void *
padded_memalign(size_t align, size_t size_bytes)
{
    size_t needed = needed_alignment();

    return unpadded.memalign(align < needed ? needed : align, padded(size_bytes));
}

#define PAGED(name)                                                                                \
    static void *padded_##name(size_t size_bytes)                                                  \
    {                                                                                              \
        return unpadded.name(padded(size_bytes));                                            \
    }

PAGED(valloc)
PAGED(pvalloc)

/* Return true if ENTRY, the ledger's entry for P, is the entry of a live block at P outside the
 * side table. */
static inline bool
reports_size(uint32_t entry, const void *p)
{
    return ledger_is_live(entry) && entry >> LEDGER_KIND_SHIFT != LEDGER_KIND_SIDE &&
           ledger_begins_at(entry, (uintptr_t)p);
}

static size_t
padded_usable(void *p)
{
    size_t usable = unpadded.malloc_usable_size(p);
    const uint32_t *slot;
    uint32_t entry;
    uint64_t room, end;

    if (p == NULL || state == NULL || load_acquire(&state->ready) != READY_YES ||
        ((uintptr_t)p & 15) != 0)
        return usable;
    slot = ledger_slot((uintptr_t)p);
    entry = slot != NULL ? load_relaxed(slot) : 0;
    if (!reports_size(entry, p))
        return usable;
    room = ledger_state()->usable == USABLE_GLIBC ? ledger_glibc_room(p) : usable;
    end = round_up(ledger_has_slack(entry) ? room - ledger_slack(entry)
                                           : ledger_wide_block((uintptr_t)p).size_bytes,
                   FACTS_BYTES);
    return end < usable ? end : usable; // No room for facts: the program allocated the block by
                                        // another path.
}

void
padded_in_front(struct real_allocator *n)
{
    unpadded = *n;
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

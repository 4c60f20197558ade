/* count.h: adds blocks to a site's counters and size bins, and removes them. Only the thread that
 * owns the counters may call these functions. */
#ifndef ACCOUNT_COUNT_H
#define ACCOUNT_COUNT_H

#include "account/peak.h"
#include "account/thread.h"
#include "base/atomics.h"

/* No block is larger: this is the size of a program's address space. */
#define COUNT_SIZE_MAX ((uint64_t)1 << 47)

/* Add a block of at least DISK_EXACT_BINS bytes to its size bin. */
static inline void
count_range_alloc(struct thread *t, uint64_t size_bytes)
{
    struct disk_range *range = &t->bins->range[disk_range_bin(size_bytes)];

    bump(&range->allocations);
    bump_by(&range->allocated_bytes, size_bytes);
}

static inline void
count_bin_free(struct thread *t, uint64_t size_bytes)
{
    struct disk_range *range;

    if (likely(size_bytes < DISK_EXACT_BINS)) {
        bump(&t->bins->exact[size_bytes].frees);
        return;
    }
    range = &t->bins->range[disk_range_bin(size_bytes)];
    bump(&range->frees);
    bump_by(&range->freed_bytes, size_bytes);
}

/* Return a size to count for a freed block whose size is not known: the program has overwritten the
 * allocator's word with it. C is the counter of its site. */
COLD uint64_t count_lost_size(struct thread *t, const struct disk_counter *c);

/* Remove a block of at least DISK_EXACT_BINS bytes from C and its bin. Return its size, or a
 * substitute if no block is as large. */
static inline uint64_t
count_large_free(struct thread *t, struct disk_counter *c, uint64_t size_bytes)
{
    if (unlikely(size_bytes > COUNT_SIZE_MAX))
        size_bytes = count_lost_size(t, c);
    bump_by(&c->freed_bytes, size_bytes);
    count_bin_free(t, size_bytes);
    return size_bytes;
}

/* Return true if SIZE_BYTES is between the smallest and the largest size that C has counted. */
static inline bool
count_is_within(const struct disk_counter *c, uint64_t size_bytes)
{
    return likely(size_bytes >= c->size_min) && likely(size_bytes <= c->size_max);
}

/* Prepare C for a block of SIZE_BYTES, which the caller is about to count. */
static inline void
count_prepare_alloc(struct thread *t, struct disk_counter *c, uint64_t size_bytes)
{
    if (unlikely(c->allocations == 0 || size_bytes < c->size_min))
        store_relaxed(&c->size_min, size_bytes);
    if (unlikely(size_bytes > c->size_max))
        store_relaxed(&c->size_max, size_bytes);
    peak_before_alloc(t, c);
}

/* Count a block of SIZE_BYTES into C. Requires that C is prepared. */
static inline void
count_prepared_alloc(struct thread *t, struct disk_counter *c, uint64_t size_bytes)
{
    bump(&c->allocations);
    bump_by(&c->allocated_bytes, size_bytes);
    if (likely(size_bytes < DISK_EXACT_BINS))
        bump(&t->bins->exact[size_bytes].allocations);
    else
        count_range_alloc(t, size_bytes);
}

/* Prepare C and count a block of SIZE_BYTES into it. */
static inline void
count_alloc(struct thread *t, struct disk_counter *c, uint64_t size_bytes)
{
    count_prepare_alloc(t, c, size_bytes);
    count_prepared_alloc(t, c, size_bytes);
}

/* Remove a block from C. Return its size, or a substitute if no block is as large. Requires that C
 * is prepared. */
static inline uint64_t
count_prepared_free(struct thread *t, struct disk_counter *c, uint64_t size_bytes)
{
    bump(&c->frees);
    if (unlikely(size_bytes >= DISK_EXACT_BINS))
        return count_large_free(t, c, size_bytes);
    bump_by(&c->freed_bytes, size_bytes);
    bump(&t->bins->exact[size_bytes].frees);
    return size_bytes;
}

/* Prepare C and remove a block of SIZE_BYTES from it. Return as count_prepared_free. */
static inline uint64_t
count_free(struct thread *t, struct disk_counter *c, uint64_t size_bytes)
{
    peak_before_free(t, c);
    return count_prepared_free(t, c, size_bytes);
}

/* Remove COUNT objects of a heap of the program. The size bins do not include such
 * objects. */
static inline void
count_objects_free(struct thread *t, struct disk_counter *c, uint64_t count, uint64_t size_bytes)
{
    peak_before_free(t, c);
    bump_by(&c->frees, count);
    bump_by(&c->freed_bytes, size_bytes);
}

#endif

/* segments.c: computes and creates segments. Segment I contains the records [2^(first_bits + I),
 * 2^(first_bits + I + 1)). */
#include "account/segments.h"

#include "base/atomics.h"
#include "platform/mem.h"

/* Return the index of the first record of segment I. */
static inline uint64_t
segment_start(struct segments_shape shape, uint32_t i)
{
    return UINT64_C(1) << (shape.first_bits + i);
}

static inline uint32_t
segment_of(struct segments_shape shape, uint64_t index)
{
    return 63 - (uint32_t)__builtin_clzll(index) - shape.first_bits;
}

/* Return the size of segment I in an array of at most MAX records. */
static uint64_t
segment_bytes(struct segments_shape shape, uint32_t i, uint64_t max)
{
    uint64_t start = segment_start(shape, i);

    if (max <= start)
        return 0;
    return (max - start < start ? max - start : start) * shape.record_bytes;
}

COLD void *
segments_at(const struct segments *s, struct segments_shape shape, uint64_t index)
{
    uint32_t i = segment_of(shape, index);
    unsigned char *base = load_acquire(&s->base[i]);

    return base + (index - segment_start(shape, i)) * shape.record_bytes;
}

COLD bool
segments_make(struct segments *s, struct segments_shape shape, uint64_t index, uint64_t max)
{
    uint32_t i = segment_of(shape, index);
    uint64_t size_bytes = segment_bytes(shape, i, max);
    uint64_t end_bytes = (index + 1 - segment_start(shape, i)) * shape.record_bytes;
    unsigned char *none = NULL, *base;

    if (i >= SEGMENTS_MAX || end_bytes > size_bytes)
        return false;
    base = load_acquire(&s->base[i]);
    if (base == NULL) {
        base = mem_private(size_bytes);
        if (base == NULL)
            return false;
        if (!cas_acq_rel(&s->base[i], &none, base)) {
            mem_release(base, size_bytes);
            base = none;
        }
    }
    mem_fill(base, &s->made_bytes[i], end_bytes, size_bytes);
    return true;
}

void
segments_give_back(struct segments *s, struct segments_shape shape, uint64_t before,
                   uint64_t after)
{
    for (uint32_t i = 0; i < SEGMENTS_MAX; i++) {
        unsigned char *base = load_acquire(&s->base[i]);

        if (base != NULL)
            mem_shrink(base, segment_bytes(shape, i, before), segment_bytes(shape, i, after));
    }
}

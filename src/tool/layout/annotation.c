/* annotation.c: decode annotations, and find their marks at the speed of memory.
 *
 * A mark may start at any byte: a dump received over a serial line may have a header of odd length.
 * Therefore each byte is compared with H and the third byte after it with P, sixteen at a time. The
 * two bytes between are compared only where both match, which is rare. Once the bytes are in the
 * cache, this takes a fifth of the time to load them there. */
#include "layout/annotation.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static const uint8_t mark[ANNOTATION_MARK_BYTES] = {'H', 'e', 'a', 'P'};
static const uint8_t mark_end[ANNOTATION_MARK_BYTES] = {'P', 'r', 'o', 'F'};
static const uint8_t mark_guard[ANNOTATION_MARK_BYTES] = {'T', 'a', 'i', 'L'};

enum { KIND_BASE = 0xa0, FLAG_PADDED = 1, FLAG_BIRTH = 2, FLAG_THREAD = 4, FIXED_BYTES = 16 };

#if defined(__SSE2__)

static inline size_t
annotation_search(const uint8_t *bytes, size_t from, size_t end,
                  const uint8_t wanted[ANNOTATION_MARK_BYTES])
{
    const __m128i first = _mm_set1_epi8((char)wanted[0]), last = _mm_set1_epi8((char)wanted[3]);

    while (end - from >= 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(bytes + from));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(bytes + from + 3));
        uint32_t both = (uint32_t)_mm_movemask_epi8(
            _mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, last)));

        for (; both != 0; both &= both - 1) {
            size_t at = from + (size_t)__builtin_ctz(both);

            if (memcmp(bytes + at, wanted, ANNOTATION_MARK_BYTES) == 0)
                return at;
        }
        from += 16;
    }
    while (from < end && memcmp(bytes + from, wanted, ANNOTATION_MARK_BYTES) != 0)
        from++;
    return from;
}

#else

static size_t
annotation_search(const uint8_t *bytes, size_t from, size_t end,
                  const uint8_t wanted[ANNOTATION_MARK_BYTES])
{
    while (from < end) {
        const uint8_t *found = memchr(bytes + from, wanted[0], end - from);

        if (found == NULL)
            return end;
        from = (size_t)(found - bytes);
        if (memcmp(found, wanted, ANNOTATION_MARK_BYTES) == 0)
            return from;
        from++;
    }
    return end;
}

#endif

size_t
annotation_find(const uint8_t *bytes, size_t from, size_t end)
{
    return annotation_search(bytes, from, end, mark);
}

size_t
annotation_find_end(const uint8_t *bytes, size_t from, size_t end)
{
    return annotation_search(bytes, from, end, mark_end);
}

bool
annotation_shape(const uint8_t *bytes, struct annotation_shape *ret)
{
    uint32_t flags = bytes[7];
    enum annotation_kind kind = (enum annotation_kind)(bytes[4] - KIND_BASE);

    if (bytes[4] < KIND_BASE || bytes[4] >= KIND_BASE + ANNOTATION_KINDS || bytes[5] == 0 ||
        (flags & ~(uint32_t)(FLAG_PADDED | FLAG_BIRTH | FLAG_THREAD)) != 0)
        return false;
    *ret = (struct annotation_shape){
        .kind = kind,
        .places = bytes[5],
        .guard_bytes = bytes[6],
        .padded = (flags & FLAG_PADDED) != 0,
        .has_birth = (flags & FLAG_BIRTH) != 0,
        .has_thread = (flags & FLAG_THREAD) != 0,
    };
    ret->bytes = FIXED_BYTES + annotation_word_bytes(kind) *
                                   (1u + ret->has_birth + ret->has_thread + ret->places);
    return true;
}

uint64_t
annotation_word(enum annotation_kind kind, const uint8_t *bytes)
{
    uint32_t count = annotation_word_bytes(kind);
    uint64_t word = 0;

    for (uint32_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << 8 * (annotation_is_big(kind) ? count - 1 - i : i);
    return word;
}

static uint32_t
annotation_mix(uint32_t sum, uint32_t value)
{
    sum = (sum ^ value) * UINT32_C(0x9e3779b1);
    return sum ^ sum >> 15;
}

static uint32_t
annotation_mix_word(enum annotation_kind kind, uint32_t sum, uint64_t word)
{
    sum = annotation_mix(sum, (uint32_t)word);
    return annotation_word_bytes(kind) == 8 ? annotation_mix(sum, (uint32_t)(word >> 32)) : sum;
}

static uint32_t
read_check(enum annotation_kind kind, const uint8_t *bytes)
{
    return (uint32_t)annotation_word(annotation_is_big(kind) ? ANNOTATION_32_BIG
                                                             : ANNOTATION_32_LITTLE,
                                     bytes);
}

void
annotation_read(const struct annotation_shape *shape, const uint8_t *bytes, const uint8_t *before,
                struct annotation *ret)
{
    enum annotation_kind kind = shape->kind;
    uint32_t word = annotation_word_bytes(kind), sum = UINT32_C(0x50616548);
    const uint8_t *at = bytes + ANNOTATION_SHAPE_BYTES;

    ret->size = annotation_word(kind, at);
    at += word;
    ret->birth = shape->has_birth ? annotation_word(kind, at) : 0;
    at += shape->has_birth ? word : 0;
    ret->thread = shape->has_thread ? annotation_word(kind, at) : 0;
    at += shape->has_thread ? word : 0;
    ret->padding = shape->padded ? annotation_word(kind, before) : 0;
    sum = annotation_mix(sum, bytes[4] | (uint32_t)bytes[5] << 8 | (uint32_t)bytes[6] << 16 |
                       (uint32_t)bytes[7] << 24);
    sum = annotation_mix_word(kind, sum, ret->size);
    if (shape->padded)
        sum = annotation_mix_word(kind, sum, ret->padding);
    if (shape->has_birth)
        sum = annotation_mix_word(kind, sum, ret->birth);
    if (shape->has_thread)
        sum = annotation_mix_word(kind, sum, ret->thread);
    ret->frame_count = 0;
    for (uint32_t i = 0; i < shape->places; i++, at += word) {
        ret->frames[i] = annotation_word(kind, at);
        sum = annotation_mix_word(kind, sum, ret->frames[i]);
        if (ret->frames[i] != 0)
            ret->frame_count = i + 1;
    }
    ret->address = read_check(kind, at) - sum;
    ret->has_end = memcmp(at + 4, mark_end, sizeof mark_end) == 0;
}

bool
annotation_in_front(const uint8_t *bytes, size_t count, uint64_t address,
                    struct annotation_shape *ret_shape, struct annotation *ret)
{
    for (size_t back = ANNOTATION_BYTES_MIN; back <= count && back <= ANNOTATION_BYTES_MAX;
         back += ANNOTATION_MARK_BYTES) {
        const uint8_t *at = bytes + count - back;

        if (memcmp(at, mark, sizeof mark) != 0 || !annotation_shape(at, ret_shape) ||
            ret_shape->bytes != back ||
            (ret_shape->padded && count - back < annotation_word_bytes(ret_shape->kind)))
            continue;
        annotation_read(ret_shape, at, at - annotation_word_bytes(ret_shape->kind), ret);
        if (ret->has_end && ret->address == (uint32_t)address)
            return true;
    }
    return false;
}

uint32_t
annotation_guard(const uint8_t *guard, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && guard[i] == mark_guard[i % sizeof mark_guard])
        i++;
    return i;
}

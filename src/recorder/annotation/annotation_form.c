/* annotation_form.c: reads and writes the annotation of one block. docs/internals/annotated.md
 * specifies it; this file is for words of 8 bytes and the byte order of x86-64.
 *
 *     padding | HeaP | shape | size | birth | thread | frames | check | ProF | block | guard
 *             ◄───────────────────────── head_bytes ────────────────────►
 *
 * There are as many slots for return addresses as requested, plus one if the total would otherwise
 * not be a multiple of 16. All blocks of a process have the same layout. So the start of an
 * annotation follows from the block's address, even if the annotation is corrupted.
 *
 * Callers own the block, or pin its memory (annotated_map.h) while they read and write here. */
#include "annotation/annotation_form.h"

#include <string.h>

enum {
    WORD = 8,
    KIND = 0xa1,
    PADDED = 1,
    BIRTH = 2,
    THREAD = 4,
    FIXED_WORDS = 5, // Words without frames: mark and shape, size, birth, thread, check and end.
    BIRTH_AT = 2,    // Positions in words from the start of the annotation.
    THREAD_AT = 3,
    FRAMES_AT = 4,
};

#define MARK_BEGIN UINT32_C(0x50616548)  // "HeaP"
#define MARK_END UINT32_C(0x466f7250)    // "ProF"
#define MARK_FREED UINT32_C(0x45657246)  // "FreE"
#define CHECK_START MARK_BEGIN

typedef uint64_t __attribute__((may_alias)) word;

struct annotation_form annotation_form;

void
annotation_choose(uint64_t frames, uint64_t guard_bytes)
{
    uint64_t places = frames < ANNOTATION_FRAMES_MIN ? ANNOTATION_FRAMES_MIN : frames;

    if (places > ANNOTATION_FRAMES_MAX)
        places = ANNOTATION_FRAMES_MAX;
    places += (FIXED_WORDS + places) % (ANNOTATION_ALIGNMENT / WORD);
    annotation_form = (struct annotation_form){
        .places = (uint32_t)places,
        .guard_bytes = (uint32_t)(guard_bytes < ANNOTATION_GUARD_MAX ? guard_bytes
                                                                     : ANNOTATION_GUARD_MAX),
        .head_bytes = (uint32_t)(FIXED_WORDS + places) * WORD,
    };
}

static inline word *
words_of(const void *block)
{
    return (word *)(uintptr_t)((uintptr_t)block - annotation_form.head_bytes);
}

/* Return the last word: the check in its low half, the end mark in its high half. */
static inline word *
last_word(const void *block)
{
    return (word *)(uintptr_t)block - 1;
}

/* Return the first word, which is the same in all annotations with padding, and in all without. */
static inline uint64_t
first_word(bool padded)
{
    uint64_t flags = (padded ? PADDED : 0u) | BIRTH | THREAD;

    return MARK_BEGIN | (uint64_t)KIND << 32 | (uint64_t)annotation_form.places << 40 |
           (uint64_t)annotation_form.guard_bytes << 48 | flags << 56;
}

static inline uint32_t
annotation_form_mix(uint32_t sum, uint32_t value)
{
    sum = (sum ^ value) * UINT32_C(0x9e3779b1);
    return sum ^ sum >> 15;
}

static inline uint32_t
annotation_form_mix_word(uint32_t sum, uint64_t value)
{
    return annotation_form_mix(annotation_form_mix(sum, (uint32_t)value), (uint32_t)(value >> 32));
}

static uint32_t
annotation_form_check_of(const void *block)
{
    const word *w = words_of(block);
    uint32_t sum = annotation_form_mix(CHECK_START, (uint32_t)(w[0] >> 32));

    sum = annotation_form_mix_word(sum, w[1]);
    if ((w[0] >> 56 & PADDED) != 0)
        sum = annotation_form_mix_word(sum, w[-1]);
    for (uint32_t i = BIRTH_AT; i < FRAMES_AT + annotation_form.places; i++)
        sum = annotation_form_mix_word(sum, w[i]);
    return sum + (uint32_t)(uintptr_t)block;
}

static inline uint8_t
annotation_form_guard_byte(uint32_t i)
{
    return (uint8_t) "TaiL"[i % 4];
}

uint64_t *
annotation_places(void *block)
{
    return (uint64_t *)words_of(block) + FRAMES_AT;
}

void
annotation_write(void *block, const struct annotation_facts *facts)
{
    word *w = words_of(block);
    uint8_t *guard = (uint8_t *)block + facts->size_bytes;

    if (facts->padding_bytes != 0)
        w[-1] = facts->padding_bytes;
    w[0] = first_word(facts->padding_bytes != 0);
    w[1] = facts->size_bytes;
    w[BIRTH_AT] = facts->birth_ns;
    w[THREAD_AT] = facts->tid;
    for (uint32_t i = facts->frame_count; i < annotation_form.places; i++)
        w[FRAMES_AT + i] = 0;
    *last_word(block) = annotation_form_check_of(block) | (uint64_t)MARK_END << 32;
    for (uint32_t i = 0; i < annotation_form.guard_bytes; i++)
        guard[i] = annotation_form_guard_byte(i);
}

void
annotation_clear(void *block)
{
    *words_of(block) &= ~UINT64_C(0xffffffff);
    *last_word(block) = (uint32_t)*last_word(block) | (uint64_t)MARK_FREED << 32;
}

void
annotation_restore(void *block)
{
    *words_of(block) |= MARK_BEGIN;
    *last_word(block) = (uint32_t)*last_word(block) | (uint64_t)MARK_END << 32;
}

struct annotation_state
annotation_validate_head(const void *block)
{
    uint64_t first = *words_of(block), last = *last_word(block);
    struct annotation_state s = {
        .begins = first == first_word(false) || first == first_word(true),
        .ends = last >> 32 == MARK_END,
        .guard_changed = annotation_form.guard_bytes,
    };

    s.whole = s.begins && s.ends && annotation_form_check_of(block) == (uint32_t)last;
    return s;
}

struct annotation_state
annotation_validate(const void *block)
{
    struct annotation_state s = annotation_validate_head(block);
    const uint8_t *guard;

    if (!s.whole)
        return s;
    guard = (const uint8_t *)block + annotation_size(block);
    for (uint32_t i = 0; i < annotation_form.guard_bytes; i++) {
        if (guard[i] != annotation_form_guard_byte(i)) {
            s.guard_changed = i;
            break;
        }
    }
    return s;
}

uint32_t
annotation_written(const void *block, struct annotation_state s, uint8_t *ret, uint32_t max_bytes,
                   uint64_t *ret_at)
{
    const uint8_t *begin = (const uint8_t *)words_of(block), *from, *end = block;

    if (s.whole) {
        from = end + annotation_size(block) + s.guard_changed;
        end += annotation_size(block) + annotation_form.guard_bytes;
        // Exclude the last bytes of the guard if they are intact.
        while (end > from &&
               end[-1] == annotation_form_guard_byte((uint32_t)(end - from) - 1 + s.guard_changed))
            end--;
    } else if (!s.begins) {
        from = begin;
    } else {
        uint64_t mark = (uint64_t)MARK_END << 32, last = *last_word(block);

        from = end - 4;
        while (!s.ends && from < end &&
               (uint8_t)(last >> (from - (end - 8)) * 8) ==
                   (uint8_t)(mark >> (from - (end - 8)) * 8))
            from++;
        // The end mark is intact, so the change is before it, at an unknown offset.
        if (s.ends)
            from = end - (max_bytes < annotation_form.head_bytes ? max_bytes
                                                                 : annotation_form.head_bytes);
    }
    *ret_at = (uintptr_t)from;
    max_bytes = (uint64_t)(end - from) < max_bytes ? (uint32_t)(end - from) : max_bytes;
    memcpy(ret, from, max_bytes);
    return max_bytes;
}

uint64_t
annotation_size(const void *block)
{
    return words_of(block)[1];
}

uint64_t
annotation_birth(const void *block)
{
    return words_of(block)[BIRTH_AT];
}

uint64_t
annotation_padding(const void *block)
{
    const word *w = words_of(block);

    return (w[0] >> 56 & PADDED) != 0 ? w[-1] : 0;
}

uint64_t
annotation_freed_padding(const void *block)
{
    uint64_t padding = words_of(block)[-1], head = annotation_form.head_bytes + padding;
    uint64_t either = head | (uintptr_t)block, align = either & (0 - either);

    // The head was rounded up to an alignment that the block has, so the padding is shorter than
    // that. Allocators write to the first 16 bytes of freed memory, where only the shortest padding
    // is lost.
    return padding != 0 && padding < align ? padding : ANNOTATION_ALIGNMENT;
}

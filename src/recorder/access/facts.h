/* facts.h: when and where a block began, in a word behind it.
 *
 * The allocator is asked for eight bytes more (padded.c), and the first word behind the block is
 * ours. What else was thought of: a header in front would move every block away from where the
 * program would have it, and so change what shares a line with what, which is what people want to
 * see; and malloc_usable_size, memalign and realloc would all have to know. An array beside the
 * ledger is eight bytes for 32 of address space, a quarter of the heap for programs whose blocks
 * are pages; in half of all sizes the eight bytes here are in what the allocator rounds up to.
 *
 * Blocks that come by other ways (libc's own malloc, called past us) have no such word, unless the
 * allocator has given them more than they asked for: of them it is not known when they began.
 */
#ifndef ACCESS_FACTS_H
#define ACCESS_FACTS_H

#include "account/ledger.h"
#include "allocator/behind.h"
#include "platform/state.h"

enum { FACTS_BYTES = 8, FACTS_MMAPPED = 2 };

/* How many bytes the block of SIZE_BYTES may take with its facts. */
static inline uint64_t
facts_end(uint64_t size_bytes)
{
    return round_up(size_bytes, FACTS_BYTES) + FACTS_BYTES;
}

/* The same for a call for so many; one that is bound to fail is to fail. */
static inline uint64_t
facts_padded(uint64_t size_bytes)
{
    return size_bytes <= PTRDIFF_MAX - 128 ? facts_end(size_bytes) : size_bytes;
}

/* How many bytes the allocator has given glibc's block P, whose size word is WORD. */
static inline uint64_t
facts_glibc_usable(uint64_t word)
{
    return (word & ~UINT64_C(7)) - (word & FACTS_MMAPPED ? 16 : 8);
}

static inline uint64_t
facts_usable(const void *p)
{
    if (likely(state->usable == USABLE_GLIBC))
        return facts_glibc_usable(((const uint64_t *)p)[-1]);
    return state->usable == USABLE_CALL ? behind_usable(p) : 0;
}

/* Where the facts of block P are; NULL if they have no room. */
static inline uint64_t *
facts_of(const void *p, uint64_t size_bytes)
{
    if (unlikely(((uintptr_t)p & 7) != 0) || unlikely(facts_end(size_bytes) > facts_usable(p)))
        return NULL;
    return (uint64_t *)((uintptr_t)p + round_up(size_bytes, FACTS_BYTES));
}

#endif

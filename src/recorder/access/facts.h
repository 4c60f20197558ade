/* facts.h: the time and cpu of a block's allocation, stored in a word after the block.
 *
 * padded.c requests eight more bytes, and the first word after the block stores the facts. Two
 * alternatives were rejected. A header before the block would move every block away from its usual
 * address. That would change which data share a cache line, exactly the property that users want to
 * see. Also, malloc_usable_size, memalign and realloc would all have to handle it. An array beside
 * the ledger needs eight bytes for 32 of address space, a quarter of the heap for programs whose
 * blocks are pages. For half of all sizes, the eight bytes here fit in the allocator's rounding.
 *
 * Blocks from other paths (direct calls of libc's own malloc) have no such word, unless the
 * allocator gave them more than requested. The time of their allocation is unknown. */
#ifndef ACCESS_FACTS_H
#define ACCESS_FACTS_H

#include "allocator/real.h"
#include "ledger/ledger.h"
#include "ledger/ledger_state.h"
#include "platform/state.h"

enum { FACTS_BYTES = 8, FACTS_MMAPPED = 2 };

/* Return the size of a block of SIZE_BYTES including its facts. */
static inline uint64_t
facts_end(uint64_t size_bytes)
{
    return round_up(size_bytes, FACTS_BYTES) + FACTS_BYTES;
}

/* Return the size to request for a block of SIZE_BYTES and its facts. If the allocator must refuse
 * SIZE_BYTES, return SIZE_BYTES, so that the request still fails. */
static inline uint64_t
facts_padded(uint64_t size_bytes)
{
    return size_bytes <= PTRDIFF_MAX - 128 ? facts_end(size_bytes) : size_bytes;
}

/* Return the usable size of glibc's block P, whose size word is WORD. */
static inline uint64_t
facts_glibc_usable(uint64_t word)
{
    return (word & ~UINT64_C(7)) - (word & FACTS_MMAPPED ? 16 : 8);
}

static inline uint64_t
facts_usable(const void *p)
{
    if (likely(ledger_state()->usable == USABLE_GLIBC))
        return facts_glibc_usable(((const uint64_t *)p)[-1]);
    return ledger_state()->usable == USABLE_CALL ? real_usable(p) : 0;
}

/* Return the address of block P's facts; NULL if there is no room for them. */
static inline uint64_t *
facts_of(const void *p, uint64_t size_bytes)
{
    if (unlikely(((uintptr_t)p & 7) != 0) || unlikely(facts_end(size_bytes) > facts_usable(p)))
        return NULL;
    return (uint64_t *)((uintptr_t)p + round_up(size_bytes, FACTS_BYTES));
}

#endif

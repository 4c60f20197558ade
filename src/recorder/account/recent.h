/* recent.h: records the latest blocks of a thread, to measure the lives of short-lived blocks.
 *
 * A life is counted in allocations of the thread that allocated the block, from its allocation to
 * its free. The exact number matters only for short-lived blocks. These are among the latest 256
 * blocks of the thread, which fit in 2 KiB.
 *
 *     thread    recent[256]    the latest blocks, by birth number (recent_place)
 *               alloc_seq      the number of the next, modulo 256
 *     ledger    birth          that number, modulo 128
 *
 * An allocation writes the block's key into `recent` and the number into the ledger. A free reads
 * the ledger in any case. Two numbers agree with the ledger's; their keys are neighbours, in one
 * cache line. If one of these keys in the present thread is the block's, this thread allocated the
 * block, and the difference of the numbers is the life. If neither is, either 256 other blocks
 * followed, or another thread allocated the block: neither is counted as a short life. Recording
 * only the latest block would not be much cheaper.
 *
 * Rejected alternatives: storing the full number beside each block would take eight bytes for each
 * 32 bytes of heap, twice the ledger. Searching a list of recent blocks would take longest for the
 * many frees of long-lived blocks. A clock would measure the machine's load rather than the
 * program.
 *
 * A block that realloc moves begins a new life at its new site, as in all counts. Its life at the
 * old site is not counted.
 *
 * Known errors. The key does not include the thread. A block that one thread allocates and another
 * frees stays in the first one's slot. Suppose that the other thread then gets the same address
 * from the same stack, with the same number modulo 128 by chance, and that the first thread frees
 * it before 256 further allocations. Then the first thread counts the life of the former block. Or
 * suppose that the first thread itself gets the address from the same stack again, 128 allocations
 * later. Then both keys are equal, and the life may be off by 128.
 * Also, a handler that interrupts the recorder has its own struct, so blocks that it allocates
 * there and the thread frees count as another thread's. */
#ifndef ACCOUNT_RECENT_H
#define ACCOUNT_RECENT_H

#include <string.h>

#include "account/thread.h"
#include "base/atomics.h"
#include "ledger/ledger.h"

/* Return the key of P of SITE, or of P whose packed entry (ledger.c) is SITE. Only the lower 18
 * bits matter. Blocks less than 64 TiB apart have distinct keys. */
static inline uint64_t
recent_key(const void *p, uint32_t site)
{
    static_assert((int)LEDGER_PACKED_SITE_BITS == 64 - 46, "other bits of the entry are dropped");
    return (uint64_t)site << 46 ^ (uintptr_t)p;
}

/* Return the index in `recent` of the block with number BIRTH. Numbers that are equal modulo 128
 * are neighbours. */
static inline uint8_t
recent_place(uint8_t birth)
{
    return (uint8_t)(birth << 1 | birth >> 7);
}

/* Record that T has allocated P of SITE, as in recent_key. Return the block's birth number, which
 * the caller must store in the ledger. */
static inline uint8_t
recent_begins(struct thread *t, const void *p, uint32_t site)
{
    uint8_t birth = t->alloc_seq;

    __asm__("" : "+m"(t->alloc_seq)); // Prevent the compiler from incrementing a copy in a
                                      // register.
    t->alloc_seq++;
    t->recent[recent_place(birth)] = recent_key(p, site);
    return birth;
}

/* Record that T has allocated a block whose life is not measured. */
static inline void
recent_begins_unseen(struct thread *t)
{
    t->recent[recent_place(t->alloc_seq++)] = 0;
}

/* Return true if P, a block of SITE, is the latest allocation of T and has not ended or moved. */
static inline bool
recent_is_latest(const struct thread *t, const void *p, uint32_t site)
{
    return t->recent[recent_place((uint8_t)(t->alloc_seq - 1))] == recent_key(p, site);
}

/* The record of a block in `recent`. */
struct recent_found {
    uint64_t *key;  // NULL = there is none.
    uint32_t later; // Number of the thread's allocations after the block.
};

/* Return T's record of P of SITE, as in recent_key. BIRTH is the block's number, modulo 128 or
 * 256. */
static inline struct recent_found
recent_find(struct thread *t, const void *p, uint32_t site, uint8_t birth)
{
    uint32_t later = (uint8_t)(t->alloc_seq - 1 - birth) % LEDGER_BIRTHS;
    uint64_t *key = &t->recent[recent_place((uint8_t)(t->alloc_seq - 1 - later))];

    if (*key == recent_key(p, site))
        return (struct recent_found){key, later};
    key = &t->recent[recent_place((uint8_t)(t->alloc_seq - 1 - later - LEDGER_BIRTHS))];
    if (*key == recent_key(p, site))
        return (struct recent_found){key, later + LEDGER_BIRTHS};
    return (struct recent_found){NULL, 0};
}

/* Offsets of the counters of lives: by the number of allocations between a block's own and its
 * free. */
static const uint8_t recent_counter_at[RECENT_BLOCKS] = {
    [0] = offsetof(struct disk_counter, temporary),
    [1 ... 15] = offsetof(struct disk_counter, ended_16),
    [16 ... RECENT_BLOCKS - 1] = offsetof(struct disk_counter, ended_256),
};

/* Return the counter of C that counts lives with LATER further allocations, fewer than
 * RECENT_BLOCKS. */
static inline uint64_t *
recent_counter(struct disk_counter *c, uint64_t later)
{
    return (uint64_t *)(void *)((char *)c + recent_counter_at[later]);
}

/* Count the life of P, which T frees, in C, T's counter. SITE and BIRTH are the block's, as in
 * recent_find. P represents COUNT blocks. */
static inline void
recent_ends(struct thread *t, struct disk_counter *c, const void *p, uint32_t site, uint8_t birth,
            uint64_t count)
{
    struct recent_found found = recent_find(t, p, site, birth);

    if (found.key == NULL)
        return;
    *found.key = 0;
    bump_by(recent_counter(c, found.later), count);
}

/* Like recent_ends, for one block, without branches: no processor can predict the lives of blocks.
 * ENTRY is the block's packed entry. */
static INLINE void
recent_ends_packed(struct thread *t, struct disk_counter *c, const void *p, uint32_t entry)
{
    uint64_t wanted = recent_key(p, entry);
    size_t birth = entry >> LEDGER_PACKED_BIRTH_SHIFT & (LEDGER_BIRTHS - 1);
    uint64_t *key = &t->recent[2 * birth], *counter, left, later;
    size_t second = key[1] == wanted;

    key += second;
    left = *key;
    later = (uint8_t)(t->alloc_seq - 1 - birth - second * LEDGER_BIRTHS);
    counter = recent_counter(c, later);
    // The compiler would branch.
    __asm__("cmp %2, %0\n\tcmovne %3, %1\n\tcmove %4, %0"
            : "+&r"(left), "+&r"(counter)
            : "r"(wanted), "r"(&t->long_lives), "r"(UINT64_C(0))
            : "cc");
    *key = left;
    bump(counter);
}

/* Clear the record of P of SITE with BIRTH, as in recent_find. P has moved, or must count as
 * long-lived. */
static inline void
recent_drop(struct thread *t, const void *p, uint32_t site, uint8_t birth)
{
    struct recent_found found = recent_find(t, p, site, birth);

    if (found.key != NULL)
        *found.key = 0;
}

/* Clear the records of all blocks. */
static inline void
recent_clear(struct thread *t)
{
    memset(t->recent, 0, sizeof t->recent);
}

#endif

/* recent.h: records the latest blocks of a thread, to measure the lives of short-lived blocks.
 *
 * A life is counted in allocations of the thread that allocated the block, from its allocation to
 * its free. The exact number matters only for short-lived blocks. These are among the latest 256
 * blocks of the thread, which fit in 2 KiB.
 *
 *     thread    recent[256]    the latest blocks, by birth number
 *               alloc_seq      the number of the next, modulo 256
 *     ledger    birth          that number, a byte for each block
 *
 * An allocation writes the block's key into recent[alloc_seq] and the number into the ledger. A
 * free reads the ledger in any case. It takes the number from the ledger, and compares the present
 * thread's slot with the key. If they are equal, this thread allocated the block, and the
 * difference of the numbers is the life. If not, either 256 other blocks followed, or another
 * thread allocated the block: neither is counted as a short life. So a free reads one word and
 * compares it once. Recording only the latest block would not be much cheaper.
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
 * from the same stack, with the same number by chance (one in 256), and that the first thread frees
 * it before 256 further allocations. Then the first thread counts the life of the former block.
 * Also, a handler that interrupts the recorder has its own struct, so blocks that it allocates
 * there and the thread frees count as another thread's. */
#ifndef ACCOUNT_RECENT_H
#define ACCOUNT_RECENT_H

#include <string.h>

#include "account/thread.h"
#include "base/atomics.h"
#include "ledger/ledger.h"

/* Return the key of P. ENTRY is the ledger entry of P, or the entry that P would have as a plain
 * block; only site and sub matter. Blocks less than a TiB apart have distinct keys. */
static inline uint64_t
recent_key(const void *p, uint32_t entry)
{
    return (uint64_t)entry << (64 - LEDGER_SLACK_SHIFT) ^ (uintptr_t)p;
}

/* Return the ENTRY that the functions below expect for P of SITE. */
static inline uint32_t
recent_entry(const void *p, uint32_t site)
{
    return (site & LEDGER_SITE_MASK) | ledger_sub((uintptr_t)p, LEDGER_GLIBC_SHIFT);
}

/* Record that T has allocated P, with ENTRY. Return the block's birth number, which the caller must
 * store in the ledger. */
static inline uint8_t
recent_begins(struct thread *t, const void *p, uint32_t entry)
{
    size_t birth = t->alloc_seq;

    __asm__("" : "+m"(t->alloc_seq)); // Prevent the compiler from incrementing a copy in a
                                      // register.
    t->alloc_seq++;
    t->recent[birth] = recent_key(p, entry);
    return (uint8_t)birth;
}

/* Record that T has allocated a block whose life is not measured. */
static inline void
recent_begins_unseen(struct thread *t)
{
    t->recent[t->alloc_seq++] = 0;
}

/* Return true if P, a block of SITE, is the latest allocation of T and has not ended or moved. */
static inline bool
recent_is_latest(const struct thread *t, const void *p, uint32_t site)
{
    return t->recent[(uint8_t)(t->alloc_seq - 1)] == recent_key(p, recent_entry(p, site));
}

/* Count the life of P, which T frees, in C, T's counter. ENTRY and BIRTH are the block's. P
 * represents COUNT blocks. */
static inline void
recent_ends(struct thread *t, struct disk_counter *c, const void *p, uint32_t entry, uint8_t birth,
            uint64_t count)
{
    size_t place = birth;
    uint8_t since;

    if (t->recent[place] != recent_key(p, entry))
        return;
    KEEP(place);
    t->recent[place] = 0;
    since = (uint8_t)(t->alloc_seq - 1 - (uint8_t)place);
    if (since == 0)
        bump_by(&c->temporary, count);
    else if (since < 16)
        bump_by(&c->ended_16, count);
    else
        bump_by(&c->ended_256, count);
}

/* Clear the record of P with ENTRY and BIRTH. P has moved, or must count as long-lived. */
static inline void
recent_drop_entry(struct thread *t, const void *p, uint32_t entry, uint8_t birth)
{
    if (t->recent[birth] == recent_key(p, entry))
        t->recent[birth] = 0;
}

/* Like recent_drop_entry, for a block of malloc with SITE. */
static inline void
recent_drop(struct thread *t, const void *p, uint32_t site, uint8_t birth)
{
    recent_drop_entry(t, p, recent_entry(p, site), birth);
}

/* Clear the records of all blocks. */
static inline void
recent_clear(struct thread *t)
{
    memset(t->recent, 0, sizeof t->recent);
}

#endif

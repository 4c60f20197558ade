/* recent.h: the latest blocks of a thread, which show how long a short-lived block has lived.
 *
 * A life is counted in allocations of the thread that allocated the block, from its allocation to
 * its free. For long-lived blocks the exact number is of no interest. Short lives are found among
 * the latest 256 blocks of the thread, which fit in 2 KiB.
 *
 *     thread    recent[256]    the latest blocks, by birth number
 *               births         the number of the next, modulo 256
 *     ledger    birth          that number, a byte for each block
 *
 * An allocation writes the block's key into recent[births] and the number into the ledger. A free
 * takes the number from the ledger, which it reads anyway, and compares the present thread's slot
 * with the key. If they are equal, the block belongs to this thread, and the difference of the
 * numbers is the life. If not, either 256 other blocks followed or the block is another thread's:
 * neither is a short life. So a free reads one word and compares it once. Before, only the latest
 * block was recorded, and that was not much cheaper.
 *
 * Alternatives rejected: the full number beside each block takes eight bytes for 32 of heap, twice
 * the ledger. A list of recent blocks to search costs most for the frees that find nothing, which
 * are many. A clock would measure the machine's load rather than the program.
 *
 * A block that realloc moves begins anew at its new site, as in all counts, and has not ended at
 * the old one.
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

/* Return the key of P. ENTRY is its ledger entry, or the one that it would have if it were plain;
 * only site and sub matter. Blocks less than a TiB apart have distinct keys. */
static inline uint64_t
recent_key(const void *p, uint32_t entry)
{
    return (uint64_t)entry << (64 - LEDGER_SLACK_SHIFT) ^ (uintptr_t)p;
}

/* Return the ENTRY to pass for P of SITE. */
static inline uint32_t
recent_entry(const void *p, uint32_t site)
{
    return (site & LEDGER_SITE_MASK) | ledger_sub((uintptr_t)p, LEDGER_GLIBC_SHIFT);
}

/* Record that T has allocated P, with ENTRY. Return the number of the birth, which the ledger must
 * keep. */
static inline uint8_t
recent_begins(struct thread *t, const void *p, uint32_t entry)
{
    size_t birth = t->alloc_seq;

    __asm__("" : "+m"(t->alloc_seq)); // Keep the compiler from incrementing a copy in a register.
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

/* Count the life of P, which T ends, in C, its counter in T. ENTRY and BIRTH are the block's. It
 * stands for COUNT blocks. */
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

/* Clear the entry of P, of ENTRY and BIRTH, which has moved or must count as long-lived. */
static inline void
recent_drop_entry(struct thread *t, const void *p, uint32_t entry, uint8_t birth)
{
    if (t->recent[birth] == recent_key(p, entry))
        t->recent[birth] = 0;
}

/* Like recent_drop_entry, for a block of malloc's with SITE. */
static inline void
recent_drop(struct thread *t, const void *p, uint32_t site, uint8_t birth)
{
    recent_drop_entry(t, p, recent_entry(p, site), birth);
}

/* Clear the entries of all blocks so far. */
static inline void
recent_clear(struct thread *t)
{
    memset(t->recent, 0, sizeof t->recent);
}

#endif

/* recent.h: the latest blocks of a thread, which tell how long a block has lived.
 *
 * A life is counted in allocations of the thread that allocated the block: how many came after it.
 * Of a block that lives long nobody wants to know more than that; of one that does not, the latest
 * 256 of the thread tell, which fit into 2 KiB.
 *
 *     thread    recent[256]    which are the latest blocks, by the number of their birth
 *               births         the number of the next, modulo 256
 *     ledger    birth          that number, a byte for each block
 *
 * An allocation writes its key into its place and the number into the ledger. A free takes the
 * number from the ledger, which it reads anyway, and looks into that place of its own thread: if
 * the key is still there, the block is this thread's, and as many have come since as the numbers
 * differ by. If not, 256 others have come, or the block is another thread's: neither is a short
 * life. So a free reads one word and compares it once. Only the latest block was known before, and
 * that was not much cheaper.
 *
 * What else was thought of: the number in full beside each block would be eight bytes for 32 of
 * heap, twice the ledger; a list of recent blocks to be searched costs most for the frees that find
 * nothing, and these are many. A clock would tell of the machine's load rather than of the program.
 *
 * A block that is moved by realloc begins anew at its new site, as in all that is counted, and has
 * not ended at the old one.
 *
 * Where it errs. The key has no thread in it. A block that one thread allocates and another frees
 * stays in the first one's place. If the other then gets the same address from the same stack, the
 * number is the same by chance, one in 256, and the first one frees it, before 256 allocations of
 * its own, then it takes the life for that of its former block. And a handler that interrupts the
 * recorder has a struct of its own, so what it allocates there and the thread frees is taken for
 * another thread's.
 */
#ifndef ACCOUNT_RECENT_H
#define ACCOUNT_RECENT_H

#include <string.h>

#include "account/ledger.h"
#include "account/thread.h"
#include "base/atomics.h"

/* The key of P. ENTRY is what the ledger has for it, or would have if it were plain; of that only
 * site and place in the granule matter. Blocks less than a TiB apart have distinct keys. */
static inline uint64_t
recent_key(const void *p, uint32_t entry)
{
    return (uint64_t)entry << (64 - LEDGER_SLACK_SHIFT) ^ (uintptr_t)p;
}

/* What to give as ENTRY for P of SITE. */
static inline uint32_t
recent_entry(const void *p, uint32_t site)
{
    return (site & LEDGER_SITE_MASK) | ledger_sub((uintptr_t)p, LEDGER_GLIBC_SHIFT);
}

/* T has allocated P, of ENTRY. Returns the number of the birth, which the ledger is to keep. */
static inline uint8_t
recent_begins(struct thread *t, const void *p, uint32_t entry)
{
    size_t birth = t->births;

    __asm__("" : "+m"(t->births)); // Else it would be counted up in a register of its own.
    t->births++;
    t->recent[birth] = recent_key(p, entry);
    return (uint8_t)birth;
}

/* T has allocated a block that is not to be found. */
static inline void
recent_begins_unseen(struct thread *t)
{
    t->recent[t->births++] = 0;
}

/* Was P, a block of SITE, the latest allocation of T, and is it still there? */
static inline bool
recent_is_latest(const struct thread *t, const void *p, uint32_t site)
{
    return t->recent[(uint8_t)(t->births - 1)] == recent_key(p, recent_entry(p, site));
}

/* T ends P, of ENTRY and with that BIRTH, whose counter of T is C: count how long it has lived. It
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
    since = (uint8_t)(t->births - 1 - (uint8_t)place);
    if (since == 0)
        bump_by(&c->temporary, count);
    else if (since < 16)
        bump_by(&c->ended_16, count);
    else
        bump_by(&c->ended_256, count);
}

/* P, of ENTRY, has moved, or is to count as long-lived. */
static inline void
recent_drop_entry(struct thread *t, const void *p, uint32_t entry, uint8_t birth)
{
    if (t->recent[birth] == recent_key(p, entry))
        t->recent[birth] = 0;
}

/* The same of a block of malloc's. */
static inline void
recent_drop(struct thread *t, const void *p, uint32_t site, uint8_t birth)
{
    recent_drop_entry(t, p, recent_entry(p, site), birth);
}

/* None of the blocks so far is to be found. */
static inline void
recent_forget(struct thread *t)
{
    memset(t->recent, 0, sizeof t->recent);
}

#endif

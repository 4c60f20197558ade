/* counted_blocks.c: handles a block's counters at its start and end.
 *
 *     start    the facts are written after the block, and its counters set to zero: earlier blocks,
 *              stacks or mappings may have left counts there
 *     end      its counters are added to the records of its site
 *
 * An instrumented instruction counts every access. Counters of memory outside blocks are never
 * read.
 *
 * The recorder's state and the counters are independent. Counters exist as soon as the first code
 * starts that uses them, recorded or not. A block that is allocated earlier has no counts to clear.
 *
 * A reallocation may fail after the block was removed from the ledger, and then nothing may have
 * changed. Adding the block to its records only after success is impossible, because by then
 * another block may have its address. So a failed reallocation subtracts the block from its records
 * again.
 *
 * If a reallocated block was only written, its data may still be read in the new block. So the old
 * block does not count as write-only. If the new block has the same stack, the old one counts as
 * regrown, and the accesses of that stack show if the data was read. */
#include "access/counted_blocks.h"

#include "access/access_state.h"
#include "access/counted_objects.h"
#include "access/counting.h"
#include "access/facts.h"
#include "access/live.h"
#include "access/records.h"
#include "access/shadow.h"
#include "ledger/ledger_entry.h"
#include "ledger/ledger_state.h"
#include "platform/mem.h"

struct access_state *access_state;

/* The block that left the ledger for a reallocation in progress, and its records. */
static __thread struct {
    struct access_block block;
    uint32_t site;
    enum disk_access_part part;
    bool stays;
} leaving;

static inline bool
is_ready(void)
{
    return likely(access_state != NULL) && likely(load_acquire(&access_state->ready) != 0);
}

static inline uint64_t
now(void)
{
    return clock_now(&access_state->cycle_clock);
}

COLD void
access_publish(void)
{
    struct disk_counting *c;

    if (!is_ready() || shadow.granule_bytes == 0)
        return;
    c = access_counting();
    c->granule_bytes = (uint32_t)shadow.granule_bytes;
    c->words_max = ACCESS_WORDS_MAX;
    c->flags = DISK_COUNTING | (shadow.separate ? (uint32_t)DISK_COUNTING_APART : 0) |
               (shadow.exact ? (uint32_t)DISK_COUNTING_ATOMIC : 0);
}

COLD void
access_start(void)
{
    struct access_state *s = access_state;

    if (s == NULL)
        s = mem_lasting(sizeof *s);
    if (s == NULL)
        return;
    access_state = s;
    s->sites = mem_private(sizeof *s->sites * (size_t)(LIMIT_SITES + 1));
    s->runs = mem_private(sizeof *s->runs * (size_t)ACCESS_FIELD_SITES);
    if (s->sites == NULL || s->runs == NULL)
        return;
    ledger_state()->is_padded = shadow.granule_bytes > 16; // As in padded.c.
    clock_start(&s->cycle_clock);
    s->next_step_us = LIVE_FIRST_US;
    store_release(&s->ready, 1u);
    access_publish();
}

/* Return true if the latest reallocation has failed, and block P, which now enters the ledger, is
 * the block that it had removed. Also end that reallocation. */
static bool
has_stayed(const void *p)
{
    if (!leaving.stays || leaving.block.p != (uintptr_t)p)
        return false;
    leaving.block.p = 0;
    leaving.stays = false;
    return true;
}

void
access_begins(const void *p, uint64_t size_bytes, bool odd)
{
    uint64_t *facts;

    if (!is_ready() || unlikely(ledger_is_hooked(p)))
        return;
    if (unlikely(leaving.block.p != 0) && has_stayed(p))
        return;
    facts = odd ? NULL : facts_of(p, size_bytes);
    if (likely(facts != NULL))
        *facts = now();
    if (likely(shadow.granule_bytes != 0) && likely(shadow_has((uintptr_t)p, size_bytes)))
        shadow_clear((uintptr_t)p, size_bytes);
}

/* Read the counters and facts of the ending block P into B. OLD was its ledger entry. Return false
 * if P has no counters. */
static inline bool
read_block(struct access_block *b, const void *p, struct ledger_entry old)
{
    const uint64_t *facts = old.odd ? NULL : facts_of(p, old.size_bytes);

    if (unlikely(shadow.granule_bytes == 0) ||
        unlikely(!shadow_has((uintptr_t)p, old.size_bytes))) {
        access_add(&access_counting()->outside_blocks, 1);
        return false;
    }
    b->p = (uintptr_t)p;
    b->size_bytes = old.size_bytes;
    b->moved = false;
    live_date(b, facts != NULL ? *facts : 0, now());
    if (unlikely((b->p & (shadow.granule_bytes - 1)) != 0))
        access_add(&access_counting()->unaligned_blocks, 1);
    records_read(b);
    return true;
}

/* Return true if the accesses of block P of SITE are counted: malloc returned it, and it does not
 * back a heap of the program. */
static inline bool
counted_blocks_is_counted(const void *p, uint32_t site)
{
    return is_ready() && likely(site != 0) && likely(!ledger_is_hooked(p)) &&
           likely(!ledger_is_backing((struct ledger_entry){.site = site}));
}

void
access_ends(const void *p, struct ledger_entry old)
{
    struct access_block b;

    if (!counted_blocks_is_counted(p, old.site) || !read_block(&b, p, old))
        return;
    records_add(&b, old.site & LEDGER_SITE_MASK, live_part((uintptr_t)p), 0);
}

void
access_leaves(const void *p, struct ledger_entry old)
{
    leaving.block.p = 0;
    leaving.stays = false;
    if (!counted_blocks_is_counted(p, old.site) || !read_block(&leaving.block, p, old))
        return;
    leaving.site = old.site & LEDGER_SITE_MASK;
    leaving.part = live_part((uintptr_t)p);
    leaving.block.moved = true;
    records_add(&leaving.block, leaving.site, leaving.part, 0);
}

static bool
is_among(uint32_t site, const uint32_t *sites)
{
    for (uint32_t i = 0; i < DISK_SIZE_CLASSES; i++)
        if (load_relaxed(&sites[i]) == site)
            return true;
    return false;
}

void
access_moved(bool freed, const uint32_t *sites)
{
    if (leaving.block.p != 0 && is_ready()) {
        if (freed)
            records_end_moved(&leaving.block, leaving.site, leaving.part);
        else if (sites != NULL && is_among(leaving.site, sites))
            records_regrow(&leaving.block, leaving.site, leaving.part);
    }
    leaving.block.p = 0;
    leaving.stays = false;
}

COLD void
access_again(const void *p)
{
    if (!is_ready() || leaving.block.p != (uintptr_t)p || p == NULL)
        return;
    records_take_back(&leaving.block, leaving.site, leaving.part);
    leaving.stays = true;
}

COLD bool
access_request(uint64_t request)
{
    if (!is_ready() || shadow.granule_bytes == 0)
        return false;
    if (request == DISK_ACCESS_MERGE)
        return live_merge(LIVE_GOES_ON);
    return request == DISK_ACCESS_RESET && live_reset();
}

void
access_poll(void)
{
    if (is_ready() && shadow.granule_bytes != 0 &&
        clock_us(&access_state->cycle_clock, now()) >= load_relaxed(&access_state->next_step_us))
        live_step();
}

COLD void
access_process_ends(void)
{
    if (!is_ready() || shadow.granule_bytes == 0)
        return;
    live_merge(LIVE_AT_EXIT);
    uncounted_scan();
    uncounted_publish();
}

void
access_used(const void *read, size_t read_bytes, const void *written, size_t written_bytes)
{
    given(read, read_bytes);
    W(written, written != NULL ? written_bytes : 0);
}

void
access_looks_up(void)
{
    uncounted_note(UNCOUNTED_LOOKUP);
}

COLD void
access_unloads(void)
{
    if (shadow.granule_bytes != 0)
        uncounted_scan_before_unload();
}

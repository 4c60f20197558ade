/* block.c: records the begin and the end of a block: an exact block, a sample, or a block that
 * backs a heap of the program.
 *
 * When samples are taken, a counter holds an estimate. A sample adds the number of blocks and bytes
 * that it represents (draw.c), and its free subtracts exactly the same amounts. So live values, the
 * peak and all views work as with exact counts, and periods of exact and of sampled recording add
 * up. errors.c keeps the variance of the estimate.
 *
 * These functions do not begin or end an event. The caller does, and it also adds the change of
 * live bytes to the peak. */
#include "event/block.h"

#include "account/account_state.h"
#include "account/label.h"
#include "event/errors.h"
#include "event/filter.h"
#include "event/guarded_draw.h"
#include "event/heap_backing.h"
#include "event/mode.h"
#include "mixed/language_frames.h"

/* --- Exact blocks ----------------------------------------------------------------------------- */

COLD int64_t
block_ends_unseen(struct thread *t, struct ledger_entry old, const void *p)
{
    struct disk_counter *c;

    bump(&t->disk->overwritten_blocks);
    if (!ledger_is_exact(old))
        return block_sample_ends(t, old, p, false);
    c = thread_counter(t, old.site);
    if (c == NULL)
        return 0;
    return -(int64_t)count_free(t, c, old.size_bytes);
}

/* Insert BLOCK at P into the ledger. If the ledger still has an old block at P, its free went
 * unseen: return the change of live bytes due to the old block. */
static INLINE int64_t
block_keep(struct thread *t, void *p, struct ledger_entry block, bool odd)
{
    uint64_t units = odd || block.site > LEDGER_PACKED_SITE_MASK ? 0 : t->direct_units;
    struct ledger_direct d =
        ledger_direct_new(t->ledger, units, p, block.size_bytes, block.site);
    struct ledger_entry old;
    bool kept;

    if (likely(d.at.leaf != NULL)) {
        store_relaxed(ledger_slot_at(d.at),
                      ledger_direct_with_birth(d.entry, (uint8_t)block.birth));
        access_begins(p, block.size_bytes, false);
        return 0;
    }
    if (odd)
        kept = ledger_insert_odd(p, block.size_bytes, block.site, (uint8_t)block.birth, &old);
    else
        kept = ledger_insert(p, block.size_bytes, block.site, (uint8_t)block.birth, &old);
    if (!kept)
        bump(&t->disk->ledger_events);
    else if (!ledger_is_hooked(p))
        access_begins(p, block.size_bytes, odd);
    return old.site != 0 ? block_ends_unseen(t, old, p) : 0;
}

struct disk_counter *
block_begins(struct thread *t, void *p, uint64_t size_bytes, bool odd, uint32_t site,
             int64_t *ret_change)
{
    struct disk_counter *c = thread_counter(t, site);
    struct ledger_entry block = {.site = site,
                                 .birth = recent_begins(t, p, site),
                                 .size_bytes = size_bytes};

    *ret_change = 0;
    if (unlikely(c == NULL)) {
        bump(&t->disk->no_memory_events);
        return NULL;
    }
    count_alloc(t, c, size_bytes);
    *ret_change = (int64_t)size_bytes + block_keep(t, p, block, odd);
    return c;
}

int64_t
block_moves(struct thread *t, struct ledger_entry old, const void *p, bool reallocated)
{
    struct disk_counter *c;
    uint64_t size_bytes;

    if (unlikely(!ledger_is_exact(old)))
        return old.site != 0 ? block_sample_ends(t, old, p, reallocated) : 0;
    c = thread_counter(t, old.site);
    if (c == NULL)
        return 0;
    size_bytes = count_free(t, c, old.size_bytes);
    if (!reallocated) {
        recent_ends(t, c, p, old.site, (uint8_t)old.birth, 1);
    } else {
        bump(&c->moved);
        recent_drop(t, p, old.site, (uint8_t)old.birth);
    }
    return -(int64_t)size_bytes;
}

void
block_keep_again(struct thread *t, void *p, struct ledger_entry old)
{
    if (old.site != 0) {
        access_again(p);
        block_keep(t, p, old, old.odd || !ledger_is_exact(old));
    }
}

/* --- Samples ---------------------------------------------------------------------------------- */

static void
bin_sample(struct thread *t, uint64_t size_bytes, const struct draw_weight *w,
           enum errors_event event)
{
    uint32_t range = size_bytes < DISK_EXACT_BINS ? 0 : disk_range_bin(size_bytes);

    if (size_bytes < DISK_EXACT_BINS && event == ERRORS_ALLOC) {
        bump_by(&t->bins->exact[size_bytes].allocations, w->blocks);
    } else if (size_bytes < DISK_EXACT_BINS) {
        bump_by(&t->bins->exact[size_bytes].frees, w->blocks);
    } else if (event == ERRORS_ALLOC) {
        bump_by(&t->bins->range[range].allocations, w->blocks);
        bump_by(&t->bins->range[range].allocated_bytes, w->bytes);
    } else {
        bump_by(&t->bins->range[range].frees, w->blocks);
        bump_by(&t->bins->range[range].freed_bytes, w->bytes);
    }
}

static void
count_sample(struct thread *t, struct disk_counter *c, uint64_t size_bytes,
             const struct draw_weight *w)
{
    peak_before_alloc(t, c);
    if (c->allocations == 0 || size_bytes < c->size_min)
        store_relaxed(&c->size_min, size_bytes);
    if (size_bytes > c->size_max)
        store_relaxed(&c->size_max, size_bytes);
    bump_by(&c->allocations, w->blocks);
    bump_by(&c->allocated_bytes, w->bytes);
    bin_sample(t, size_bytes, w, ERRORS_ALLOC);
}

struct disk_counter *
block_sample_begins(struct thread *t, void *p, uint64_t size_bytes, struct arch_caller caller,
              struct draw_weight *ret_weight, int64_t *ret_change)
{
    const struct draw_mode *mode = &sample.modes[tls.sampled_mode];
    uint32_t site =
        nodes_site(account_state()->nodes[label_here(language_node(t, caller))].site, size_bytes);
    struct disk_counter *c = thread_counter(t, site);
    bool up = guarded_draw_rounds_up(mode, size_bytes, &tls.random);
    uint32_t how = (tls.sampled_mode + 1) << LEDGER_MODE_SHIFT | (up ? LEDGER_ROUNDED_UP : 0);
    struct ledger_entry old;
    uint8_t birth;

    *ret_change = 0;
    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return NULL;
    }
    birth = recent_begins(t, p, site);
    *ret_weight = guarded_draw_weight(mode, size_bytes, up);
    errors_count(t, site, ret_weight, ERRORS_ALLOC);
    count_sample(t, c, size_bytes, ret_weight);
    *ret_change = (int64_t)ret_weight->bytes;
    if (!ledger_insert_odd(p, size_bytes, site | how, birth, &old))
        bump_by(&t->disk->ledger_events, ret_weight->blocks);
    else if (!ledger_is_hooked(p))
        access_begins(p, size_bytes, ledger_doubts_samples());
    if (old.site != 0)
        *ret_change += block_ends_unseen(t, old, p);
    filter_add(p);
    return c;
}

/* Return the weight that OLD, a ledger entry, had when its block was sampled. */
static struct draw_weight
block_weight_of(struct ledger_entry old)
{
    uint32_t mode = (old.site >> LEDGER_MODE_SHIFT) - 1;

    return guarded_draw_weight(&sample.modes[mode < LIMIT_MODES ? mode : 0], old.size_bytes,
                       old.site & LEDGER_ROUNDED_UP);
}

int64_t
block_sample_undo(struct thread *t, struct ledger_entry old, const void *p)
{
    uint32_t site = old.site & (LEDGER_ROUNDED_UP - 1);
    struct draw_weight w = block_weight_of(old);
    struct disk_counter *c = thread_counter(t, site);
    int64_t change = 0;

    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return 0;
    }
    if (!recent_is_latest(t, p, site) || !peak_take_back(t, c, w.bytes)) {
        peak_before_free(t, c);
        change = -(int64_t)w.bytes;
    }
    errors_count(t, site, &w, ERRORS_FREE);
    if (c->allocations == 0)
        store_relaxed(&c->size_min, UINT64_MAX);
    bump_by(&c->allocations, 0 - w.blocks);
    bump_by(&c->allocated_bytes, 0 - w.bytes);
    bin_sample(t, old.size_bytes, &w, ERRORS_FREE);
    filter_drop(p);
    return change;
}

int64_t
block_sample_ends(struct thread *t, struct ledger_entry old, const void *p, bool moved)
{
    uint32_t site = old.site & (LEDGER_ROUNDED_UP - 1);
    struct disk_counter *c;
    struct draw_weight w;

    if (ledger_is_backing(old)) {
        filter_drop(p);
        return heap_backing_ends(t, old, moved);
    }
    w = block_weight_of(old);
    c = thread_counter(t, site);
    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return 0;
    }
    errors_count(t, site, &w, ERRORS_FREE);
    peak_before_free(t, c);
    bump_by(&c->frees, w.blocks);
    bump_by(&c->freed_bytes, w.bytes);
    bin_sample(t, old.size_bytes, &w, ERRORS_FREE);
    if (moved) {
        bump_by(&c->moved, w.blocks);
    } else if (tls.credit == tls.block_credit && recent_is_latest(t, p, site)) {
        // Birth numbers do not count unrecorded blocks. So the life of a sample is known only if
        // the thread has allocated no block since.
        bump_by(&c->temporary, w.blocks);
        recent_drop(t, p, site, (uint8_t)old.birth);
    }
    filter_clear_freed();
    tls.freed_block = p;
    tls.freed_site = site;
    tls.freed_credit = tls.credit;
    return -(int64_t)w.bytes;
}

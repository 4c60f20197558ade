/* sampled.c: handles events of blocks that were selected as samples, and frees of blocks that were
 * not recorded.
 *
 * A free finds an exact block or a sample in the ledger. If it finds neither, the block was not
 * recorded, which is not a loss. After a change to exact recording, blocks from before may still be
 * freed, so from then on unknown frees are counted separately. A double free looks like the free of
 * an unrecorded block at the same address. The two can be distinguished only if the program has one
 * thread, which has not allocated since the first free. */
#include "event/sampled.h"

#include "account/peak.h"
#include "account/unknown_frees.h"
#include "base/atomics.h"
#include "event/block.h"
#include "event/filter.h"
#include "event/guarded_draw.h"
#include "event/mode.h"
#include "event/reentry.h"
#include "mixed/language_frames.h"
#include "stack/stack.h"

void
sampled_alloc(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = reentry_enter_thread_cold(caller.slot);
    struct draw_weight w;
    int64_t change;

    if (t != NULL && p != NULL) {
        block_sample_begins(t, p, size_bytes, caller, &w, &change);
        peak_change(t, change);
    } else if (t != NULL) {
        w = guarded_draw_weight(&sample.modes[tls.sampled_mode], size_bytes, false);
        bump_by(&t->disk->failed_calls, w.blocks);
    }
    reentry_leave_cold();
}

void
sampled_unknown_free(struct thread *t, const void *p, uint32_t freed_site,
                     struct arch_caller caller)
{
    if (freed_site != 0 && p == tls.freed_block && tls.credit == tls.freed_credit &&
        freed_site == tls.freed_site && !load_relaxed(&state->multi)) {
        unknown_frees_count(t, DISK_FREE_TWICE, language_node(t, caller), freed_site, p);
        return;
    }
    if (load_relaxed(&sample.mode) == DISK_MODE_EXACT)
        bump(&t->disk->unrecorded_frees);
    // Clear the trace of the freed block, because an unrecorded block may get this address next.
    if (freed_site != 0)
        ledger_clear_freed(p);
}

void
sampled_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                   enum gate gate, struct arch_caller caller)
{
    struct thread *t = reentry_enter_thread_cold(caller.slot);
    int64_t change = 0, left = 0;
    struct disk_counter *c = NULL;
    struct draw_weight w;

    if (t != NULL && !ok) {
        bump(&t->disk->failed_calls);
        block_keep_again(t, p, old);
    } else if (t != NULL) {
        if (old.site != 0)
            left = block_moves(t, old, p, result != NULL);
        if (result != NULL)
            filter_clear_freed(); // The block may still exist at the same address, so a second free
                                  // of it must not look like a double free.
        language_moves(old, p, result);
        if (gate == GATE_SAMPLE && result != NULL)
            c = block_sample_begins(t, result, size_bytes, caller, &w, &change);
        language_moved();
        access_moved(result == NULL, NULL);
        if (c != NULL) {
            bump_by(&c->reallocations, w.blocks);
            if (old.size_bytes != 0 && size_bytes > old.size_bytes)
                bump_by(&c->grown_bytes, w.blocks * (size_bytes - old.size_bytes));
        }
        peak_change(t, change + left);
    }
    reentry_leave_cold();
}

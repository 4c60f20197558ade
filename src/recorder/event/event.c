/* event.c: one event, from the stack to the counters.
 *
 *     enter ─► node of the stack ─► site ─► this thread's counters ─► ledger ─► peak ─► leave
 *
 * Counters change before a new block enters the ledger and after an old one has left it, each in a
 * few plain stores of this thread. A process killed in between leaves at most one half-applied
 * event per thread.
 *
 * Events of a signal handler that interrupts one of these are recorded like those from another
 * thread, with a second struct thread: nothing shared is ever locked while a signal can come
 * (reentry.c). */
#include "event/event.h"

#include "access/counted_blocks.h"
#include "account/count.h"
#include "account/label.h"
#include "account/nodes.h"
#include "account/peak.h"
#include "account/recent.h"
#include "account/thread.h"
#include "account/unknown_frees.h"
#include "base/atomics.h"
#include "event/block.h"
#include "event/event_state.h"
#include "event/fast_path.h"
#include "event/reentry.h"
#include "event/sampled.h"
#include "ledger/ledger_hooked.h"
#include "mixed/language_frames.h"
#include "stack/modules.h"
#include "stack/stack.h"

static inline void
record_alloc(void *p, size_t size_bytes, bool odd, struct arch_caller caller)
{
    struct thread *t = reentry_enter_thread(caller.slot);

    if (likely(t != NULL)) {
        uint64_t began = event_begins(t);
        int64_t change;

        if (likely(p != NULL)) {
            block_begins(t, p, size_bytes, odd, language_sites(t, stack_target(t, caller)),
                         &change);
            peak_change(t, change);
            if (unlikely(t->countdown == 0))
                ledger_prefault(&t->prefaulted, p);
        } else {
            bump(&t->disk->failed_calls);
        }
        event_ends(t, began);
    }
    reentry_leave();
}

/* Slow path of event_alloc, for any thread and block. */
static NOINLINE void *
event_alloc_slow(void *p, size_t size_bytes, struct arch_caller caller)
{
    record_alloc(p, size_bytes, false, caller);
    return p;
}

static inline void
set_counter(struct stack_target *target, uint64_t size_bytes, uint32_t site, struct disk_counter *c)
{
    uint32_t size_class = disk_size_class(size_bytes);

    // A handler may jump out between the two stores; the counter makes the pair valid.
    target->site[size_class] = site;
    signal_fence();
    target->counter[size_class] = c;
}

/* Slow path of event_alloc when only the block or its counter misses the fast path: it is open to
 * the thread, and the stack belongs to TARGET. Stores the counter in TARGET. */
static NOINLINE void *
alloc_at(void *p, size_t size_bytes, struct stack_target *target)
{
    struct thread *t = tls.self;
    struct disk_counter *c;
    uint32_t site;
    int64_t change;

    t->countdown--;
    if (likely(p != NULL)) {
        site = nodes_site(target->sites, size_bytes);
        c = block_begins_at(t, p, size_bytes, false, site, &change);
        if (likely(c != NULL))
            set_counter(target, size_bytes, site, c);
        peak_change(t, change);
        tick_if_moved(t);
    } else {
        bump(&t->disk->failed_calls);
    }
    reentry_leave();
    return p;
}

void
event_settle(void)
{
    peak_settle(tls.self);
    tick_if_moved(tls.self);
    reentry_leave();
}

static NOINLINE void *
alloc_settles(void *p)
{
    event_settle();
    return p;
}

static INLINE enum fast_path
count_at(struct thread *t, void *p, size_t size_bytes, const struct stack_target *target)
{
    uint32_t size_class = disk_size_class(size_bytes);

    return fast_path_alloc(t, p, size_bytes, target->site[size_class], target->counter[size_class]);
}

/* Count P at TARGET, which may not hold the counter of this size class yet. */
static NOINLINE void *
alloc_counter_miss(void *p, size_t size_bytes, struct stack_target *target)
{
    struct thread *t = tls.self;
    uint32_t site = load_relaxed(&target->sites[disk_size_class(size_bytes)]);
    enum fast_path result;

    if (unlikely(!nodes_is_site(site)) || t->blocks[site / DISK_BLOCK_SITES] == NULL)
        return alloc_at(p, size_bytes, target);
    set_counter(target, size_bytes, site, thread_counter(t, site));
    result = count_at(t, p, size_bytes, target);
    if (result == FAST_PATH_MISS)
        return alloc_at(p, size_bytes, target);
    return result == FAST_PATH_DONE ? p : alloc_settles(p);
}

static INLINE void *
alloc_in(struct thread *t, void *p, size_t size_bytes, struct stack_target *target)
{
    enum fast_path result = count_at(t, p, size_bytes, target);

    if (likely(result == FAST_PATH_DONE))
        return p;
    return result == FAST_PATH_MISS ? alloc_counter_miss(p, size_bytes, target) : alloc_settles(p);
}

static NOINLINE void *
alloc_stack_miss(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = tls.self;

    return alloc_in(t, p, size_bytes, stack_target_miss(t, caller));
}

static NOINLINE void *
alloc_not_leaf(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = tls.self;
    struct stack_target *target = stack_predicted(t, caller);

    if (unlikely(target == NULL))
        return alloc_stack_miss(p, size_bytes, caller);
    return alloc_in(t, p, size_bytes, target);
}

HOT void *
event_alloc(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = tls.self;

    reentry_enter(caller.slot);
    if (unlikely(!fast_path_is_open(t)))
        return event_alloc_slow(p, size_bytes, caller);
    if (!stack_is_leaf(t, caller))
        return alloc_not_leaf(p, size_bytes, caller);
    t->frames_reused += t->leaf.frames;
    return alloc_in(t, p, size_bytes, &t->leaf);
}

void
event_alloc_outer(void *p, size_t size_bytes, struct arch_caller caller)
{
    record_alloc(p, size_bytes, p != tls.nested_block, caller);
}

/* Count the free of P, whose ledger entry OLD is a sample or no live block. */
static COLD void
free_miss(struct thread *t, const void *p, struct ledger_entry old, struct arch_caller caller)
{
    enum disk_free_kind kind = DISK_FREE_FOREIGN;

    if (old.site != 0) {
        peak_change(t, block_sample_ends(t, old, p, false));
        return;
    }
    if (event_state()->gaps) {
        sampled_unknown_free(t, p, old.freed_site, caller);
        return;
    }
    if (old.freed_site != 0)
        kind = DISK_FREE_TWICE;
    else if (state->forked)
        kind = DISK_FREE_INHERITED;
    unknown_frees_count(t, kind, language_node(t, caller), old.freed_site, p);
}

enum unknown { UNKNOWN_COUNTED, UNKNOWN_PASSED };

static inline void
record_free(void *p, enum unknown unknown, struct arch_caller caller)
{
    struct thread *t = reentry_enter_thread(caller.slot);

    if (likely(t != NULL)) {
        uint64_t began = event_begins(t);
        struct ledger_entry old = ledger_remove(p);

        access_ends(p, old);
        if (likely(ledger_is_exact(old))) {
            struct disk_counter *c = thread_counter(t, old.site);

            if (likely(c != NULL)) {
                recent_ends(t, c, p, recent_entry(p, old.site), (uint8_t)old.birth, 1);
                count_free(t, c, old.size_bytes);
                peak_change(t, -(int64_t)old.size_bytes);
            } else {
                bump(&t->disk->no_memory_events);
            }
        } else if (old.site != 0 || unknown == UNKNOWN_COUNTED) {
            free_miss(t, p, old, caller);
        }
        event_ends(t, began);
    }
    reentry_leave();
}

void
event_free(void *p, struct arch_caller caller)
{
    record_free(p, UNKNOWN_COUNTED, caller);
}

COLD void
event_free_known(void *p, struct arch_caller caller)
{
    record_free(p, UNKNOWN_PASSED, caller);
}

static inline struct ledger_entry
event_take_out(void *p, enum unknown unknown, struct arch_caller caller)
{
    struct thread *t = reentry_enter_thread(caller.slot);
    struct ledger_entry old = {0};

    if (likely(t != NULL)) {
        old = ledger_remove(p);
        if (unlikely(old.site == 0) && unknown == UNKNOWN_COUNTED)
            free_miss(t, p, old, caller);
        access_leaves(p, old);
    }
    reentry_leave();
    return old;
}

struct ledger_entry
event_realloc_begin(void *p, struct arch_caller caller)
{
    return event_take_out(p, UNKNOWN_COUNTED, caller);
}

COLD void
event_moves(struct ledger_entry old, const void *p, const void *q)
{
    language_moves(old, p, q);
}

COLD void
event_moved(void)
{
    language_moved();
}

COLD struct ledger_entry
event_realloc_begin_known(void *p, struct arch_caller caller)
{
    return event_take_out(p, UNKNOWN_PASSED, caller);
}

void
event_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                 struct arch_caller caller)
{
    struct thread *t = reentry_enter_thread(caller.slot);
    int64_t change = 0, left;

    if (t == NULL) {
        reentry_leave();
        return;
    }
    if (!ok) {
        bump(&t->disk->failed_calls);
        block_keep_again(t, p, old);
    } else {
        uint64_t began = event_begins(t);
        struct disk_counter *c;
        uint32_t *sites;

        left = block_moves(t, old, p, result != NULL);
        language_moves(old, p, result);
        sites = result != NULL ? language_sites(t, stack_target(t, caller)) : NULL;
        c = sites != NULL ? block_begins(t, result, size_bytes, false, sites, &change) : NULL;
        language_moved();
        access_moved(result == NULL, sites);
        if (c != NULL && old.site != 0) {
            bump(&c->reallocations);
            if (size_bytes > old.size_bytes)
                bump_by(&c->grown_bytes, size_bytes - old.size_bytes);
        }
        peak_change(t, change + left);
        event_ends(t, began);
    }
    reentry_leave();
}

void
event_unloaded(uint64_t slot)
{
    struct reentry_saved saved;

    if (state == NULL || load_acquire(&state->ready) != READY_YES)
        return;
    saved = reentry_interrupt(slot);
    modules_sweep();
    reentry_restore(&saved);
}

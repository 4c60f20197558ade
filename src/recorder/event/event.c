/* event.c: records one event, from the stack to the counters.
 *
 *     enter ─► node of the stack ─► site ─► this thread's counters ─► ledger ─► peak ─► leave
 *
 * The fast path checks conditions, then stores. An event takes it under these conditions: the
 * thread has a struct and no pending changes; the event does not tick; the stack is cached; the
 * block is direct (ledger.h); the size is within the bounds of the counter; and the counter has no
 * values to save. All conditions are checked before the first store. If a condition fails, a tail
 * call leads to an out-of-line function, which can still record the whole event. The fast path
 * calls no function, so the compiler saves one register or none.
 *
 *     malloc ─► event_alloc ─► alloc_at                    free ─► free_recorded ─► fast_path_free
 *               │ reentry_enter  │ ledger_direct_new              │ reentry_enter
 *               │ checks_pass    │                                │ ledger_direct_live
 *               │                └─► alloc_miss ─► alloc_indirect ├─► free_unprepared
 *               │                      └─► alloc_called           └─► free_slow ─► event_free
 *               ├─► alloc_not_leaf ─► alloc_stack_miss                  └─► event_free_called
 *               └─► alloc_slow ─► alloc_short (--callers) ─► alloc_at
 *
 * alloc_called and event_free_called record blocks of allocators other than glibc's. Only a call of
 * malloc_usable_size reports the size of such a block.
 *
 * The diagram shows all functions that an event passes before its entry is in the ledger. Some
 * conditions are functions for other callers, such as gate_passes; the fast path writes them out.
 * It does not write out the guard: only reentry.h stores to the busy word.
 *
 * Counters change before a new block enters the ledger and after an old block has left it. Each
 * change is a few plain stores of this thread. A process killed in between leaves at most one
 * half-applied event per thread.
 *
 * If a signal handler interrupts one of these functions, its events are recorded like another
 * thread's, with a second struct thread. This is possible because no shared data is locked while a
 * signal can arrive (reentry.c). */
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
#include "event/callers.h"
#include "event/event_state.h"
#include "event/fast_path.h"
#include "event/reentry.h"
#include "event/sampled.h"
#include "ledger/ledger_hooked.h"
#include "mixed/language_frames.h"
#include "stack/modules.h"
#include "stack/stack.h"

/* --- Allocations ------------------------------------------------------------------------------ */

static void *alloc_short(void *p, size_t size_bytes, struct arch_caller caller);

/* Record an allocation of any thread and block. ODD as in block.h. */
static NOINLINE void *
alloc_any(void *p, size_t size_bytes, struct arch_caller caller, bool odd)
{
    struct thread *t = reentry_enter_thread(caller.slot);

    if (likely(t != NULL)) {
        uint64_t began = event_begins(t);
        int64_t change;

        if (likely(p != NULL)) {
            block_begins(t, p, size_bytes, odd, nodes_site(callers_sites(t, caller), size_bytes),
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
    return p;
}

/* Like alloc_any, but try the fast path if the thread has short stacks. */
static NOINLINE void *
alloc_slow(void *p, size_t size_bytes, struct arch_caller caller, bool odd)
{
    return tls.short_stacks != 0 && likely(!odd)
               ? alloc_short(p, size_bytes, caller)
               : alloc_any(p, size_bytes, caller, odd);
}

/* Record the allocation of P with the stack of TARGET, if P is NULL or not direct. Requires that
 * the fast path is open to the thread. */
static NOINLINE void *
alloc_indirect(void *p, size_t size_bytes, struct stack_target *target)
{
    struct thread *t = tls.self;
    uint32_t size_class = disk_size_class(size_bytes);
    int64_t change;

    t->countdown--;
    if (likely(p != NULL)) {
        block_begins(t, p, size_bytes, false,
                     count_is_within(target->counter[size_class], size_bytes)
                         ? target->site[size_class]
                         : nodes_site(language_sites(t, target), size_bytes),
                     &change);
        peak_change(t, change);
        tick_if_moved(t);
    } else {
        bump(&t->disk->failed_calls);
    }
    reentry_leave();
    return p;
}

void
event_flush(void)
{
    peak_flush(tls.self);
    tick_if_moved(tls.self);
    reentry_leave();
}

static NOINLINE void *
alloc_and_flush(void *p)
{
    event_flush();
    return p;
}

/* Record P, whose size the real allocator has to report, with the stack of TARGET. Its counter is
 * prepared. */
static NOINLINE void *
alloc_called(void *p, size_t size_bytes, struct stack_target *target)
{
    struct thread *t = tls.self;
    uint32_t size_class = disk_size_class(size_bytes);
    struct disk_counter *c = target->counter[size_class];
    struct ledger_called d = ledger_called_new(p, size_bytes, target->site[size_class]);

    if (unlikely(d.at.leaf == NULL))
        return alloc_indirect(p, size_bytes, target);
    count_prepared_alloc(t, c, size_bytes);
    t->countdown--;
    store_relaxed(ledger_birth_at(d.at), recent_begins(t, p, target->site[size_class]));
    store_relaxed(ledger_slot_at(d.at), d.entry);
    access_begins(p, size_bytes, false);
    if (unlikely(!peak_keeps(t, (int64_t)size_bytes)))
        return alloc_and_flush(p);
    reentry_leave();
    return p;
}

typedef void *alloc_miss_fn(void *p, size_t size_bytes, struct stack_target *target);

/* Second half of event_alloc: record P with the stack of TARGET. Three conditions must hold. The
 * size class (disk_size_class) has a counter, whose bounds include the size. The counter has no
 * values to save for the present epoch (peak_prepares_alloc). P is direct. If a condition fails,
 * MISS records the event. */
static INLINE void *
alloc_at(void *p, size_t size_bytes, struct thread *t, struct stack_target *target,
         alloc_miss_fn *miss)
{
    uint32_t size_class = arch_add_if_above(
        arch_add_if_above(arch_add_if_above(0, size_bytes, DISK_CLASS_0_BYTES), size_bytes,
                          DISK_CLASS_1_BYTES),
        size_bytes, DISK_CLASS_2_BYTES);
    struct disk_counter *c = target->counter[size_class];
    struct ledger_direct d;

    if (unlikely(size_bytes < c->size_min) || unlikely(size_bytes > c->size_max) ||
        (unlikely(c->peak_epoch != load_relaxed(&t->shared->epoch)) &&
         (!t->at_peak ||
          load_relaxed(&c->peak_epoch) < load_relaxed(&t->shared->snapshot_epoch))) ||
        unlikely((d = ledger_direct_new(t->ledger, t->direct_units, p, size_bytes,
                                        target->site[size_class])).at.leaf == NULL))
        return miss(p, size_bytes, target);

    bump(&c->allocations);
    bump_by(&c->allocated_bytes, size_bytes);
    if (likely(size_bytes < DISK_EXACT_BINS))
        bump(&t->bins->exact[size_bytes].allocations);
    else
        count_range_alloc(t, size_bytes);
    t->countdown--;
    KEEP(d.at.index); // Keep the index: leaf and index fit into registers, the address of the entry
                      // does not.
    store_relaxed(&d.at.leaf[d.at.index],
                  ledger_direct_with_birth(d.entry, recent_begins(t, p, d.entry)));
    access_begins(p, size_bytes, false);
    if (unlikely(!peak_keeps(t, (int64_t)size_bytes)))
        return alloc_and_flush(p);
    reentry_leave();
    return p;
}

/* Record P after the fast path found no counter of SIZE_BYTES in TARGET: make the counter and
 * repeat the fast path. It can then fail only because of P. */
static NOINLINE void *
alloc_miss(void *p, size_t size_bytes, struct stack_target *target)
{
    struct thread *t = tls.self;
    uint32_t size_class = disk_size_class(size_bytes), site;
    struct disk_counter *c = target->counter[size_class];
    uint32_t *sites;

    if (unlikely(p == NULL))
        return alloc_indirect(p, size_bytes, target);
    if (count_is_within(c, size_bytes)) {
        peak_before_alloc(t, c);
    } else {
        sites = language_constant_sites(t, target);
        if (unlikely(sites == NULL))
            return alloc_indirect(p, size_bytes, target);
        site = nodes_site(sites, size_bytes);
        c = thread_counter(t, site);
        if (unlikely(c == NULL) ||
            (unlikely(site > LEDGER_PACKED_SITE_MASK) && t->direct_units != 0))
            return alloc_indirect(p, size_bytes, target);
        count_prepare_alloc(t, c, size_bytes);
        // A handler may jump out between the two stores. The pair is valid only once the counter is
        // set.
        target->site[size_class] = site;
        signal_fence();
        target->counter[size_class] = c;
    }
    if (t->direct_units == 0)
        return alloc_called(p, size_bytes, target);
    return alloc_at(p, size_bytes, t, target, alloc_indirect);
}

static NOINLINE void *
alloc_stack_miss(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = tls.self;

    return alloc_at(p, size_bytes, t, stack_target_miss(t, caller), alloc_miss);
}

static NOINLINE void *
alloc_not_leaf(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = tls.self;
    struct stack_target *target = stack_predicted(t, caller);

    if (unlikely(target == NULL))
        return alloc_stack_miss(p, size_bytes, caller);
    return alloc_at(p, size_bytes, t, target, alloc_miss);
}

/* The conditions repeat fast_path_is_open, then stack_is_leaf. */
HOT void *
event_alloc(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = tls.self;

    reentry_enter(caller.slot);
    if (unlikely(t == NULL) || unlikely((load_relaxed(&t->ready) & THREAD_ALLOCATIONS) == 0) ||
        unlikely(t->countdown == 1))
        return alloc_slow(p, size_bytes, caller, false);
    if (unlikely(caller.slot != t->leaf_slot) ||
        (unlikely(caller.rbp != t->leaf_rbp) && t->leaf_needs_rbp) ||
        unlikely(!checks_pass(t->checks, t->check_count)))
        return alloc_not_leaf(p, size_bytes, caller);
    t->frames_reused += t->leaf.frames;
    return alloc_at(p, size_bytes, t, &t->leaf, alloc_miss);
}

/* Record an allocation in a thread with short stacks, by the fast path if it is open. The thread is
 * marked as one that needs the slow path, so event_alloc pays nothing. */
static NOINLINE void *
alloc_short(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = tls.self;

    reentry_enter(caller.slot);
    if (unlikely(t == NULL) || unlikely(load_relaxed(&t->ready) != THREAD_NEEDS_SLOW_PATH) ||
        unlikely(t->countdown == 1) || unlikely(t->shorts == NULL))
        return alloc_any(p, size_bytes, caller, false);
    return alloc_at(p, size_bytes, t, callers_target(t, caller), alloc_miss);
}

void
event_alloc_outer(void *p, size_t size_bytes, struct arch_caller caller)
{
    alloc_slow(p, size_bytes, caller, p != tls.nested_block);
}

/* --- Frees and reallocations ------------------------------------------------------------------ */

/* Count the free of P. Its ledger entry OLD belongs to a sample, or to no live block. */
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
                recent_ends(t, c, p, old.site, (uint8_t)old.birth, 1);
                peak_change(t, -(int64_t)count_free(t, c, old.size_bytes));
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
event_free_unprepared(void *p, struct ledger_place at, struct disk_counter *c)
{
    struct thread *t = tls.self;

    peak_before_free(t, c);
    if (!fast_path_free(t, p, at, c))
        event_flush();
}

HOT bool
event_free_called(void *p)
{
    struct thread *t = tls.self;
    struct ledger_called d;
    struct disk_counter *c;
    uint32_t site;

    if (unlikely(!fast_path_is_open_to_frees(t)) || t->direct_units != 0 ||
        unlikely(ledger_hooked_is_used()))
        return false;
    d = ledger_called_live(p);
    site = d.entry & LEDGER_SITE_MASK;
    if (unlikely(d.at.leaf == NULL) || unlikely(t->blocks[site / DISK_BLOCK_SITES] == NULL))
        return false;
    c = thread_counter(t, site);
    peak_before_free(t, c);
    access_ends(p, ((struct ledger_entry){.site = site, .size_bytes = d.size_bytes}));
    t->countdown--;
    store_relaxed(ledger_slot_at(d.at), d.entry | LEDGER_ENDED);
    recent_ends(t, c, p, site, load_relaxed(ledger_birth_at(d.at)), 1);
    if (unlikely(!peak_keeps(t, -(int64_t)count_prepared_free(t, c, d.size_bytes))))
        event_flush();
    else
        reentry_leave();
    return true;
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
        sites = result != NULL ? callers_sites(t, caller) : NULL;
        c = sites != NULL ? block_begins(t, result, size_bytes, false,
                                         nodes_site(sites, size_bytes), &change)
                          : NULL;
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

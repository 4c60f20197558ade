/* join.c: assigns a struct to each thread, and frees it when the thread has ended.
 *
 * A thread gets a row at its first event. The recorder cannot rely on a notice of a thread's end:
 * hooks at thread exit are limited in number, run in an order outside the recorder's control, and
 * miss later allocations. Instead a row counts as free if its owner's thread id no longer exists in
 * this process; each new thread checks a few rows. The next thread of the same name takes a free
 * row and adds to its counters. So the size of the file depends, for each name, on the maximum
 * number of simultaneous threads, and not on the number of threads that ever ran. */
#include "event/start.h"

#include <errno.h>
#include <string.h>

#include "account/account_state.h"
#include "account/file.h"
#include "account/peak.h"
#include "account/recent.h"
#include "base/atomics.h"
#include "core/core_publish.h"
#include "event/callers.h"
#include "event/event_state.h"
#include "event/guard.h"
#include "event/tick.h"
#include "ledger/ledger.h"
#include "ledger/ledger_state.h"
#include "mixed/language_frames.h"
#include "platform/mem.h"
#include "platform/process.h"
#include "platform/sys.h"
#include "stack/bounds.h"
#include "stack/coroutines.h"
#include "stack/memo.h"
#include "stack/path_ids.h"
#include "stack/short.h"
#include "stack/stack.h"
#include "stack/stack_state.h"
#include "stack/walk.h"

enum {
    SWEEP_ROWS = 8,        // Number of rows whose owners a new thread checks.
    NAMED_ROWS_MAX = 1024, // From this number of rows on, a free row is reused even if its name
                           // differs.
    TID_BITS = 22,         // Width of a thread id in bits: the largest on Linux.
    TOUCHED_BLOCKS = 1024, // Number of pointers to blocks of counters to prefault: a page or two.
    // Maximum depth of nested signal handlers that each interrupt the recorder, including handlers
    // that have left by longjmp. Each level needs a row.
    NESTED_MAX = 4,
};

/* Return the owner_tid of a row that thread TID uses as the USES-th user. A thread may be slow to
 * free the row of an ended owner. By then the kernel may have given the thread id to a new thread,
 * which has freed and taken the same row. The count distinguishes the two owners. */
static uint32_t
owner_word(uint32_t tid, uint32_t uses)
{
    return tid | uses << TID_BITS;
}

/* Free the rows of ended threads among the next SWEEP_ROWS. */
static void
sweep(uint32_t own_tid)
{
    uint32_t rows = thread_row_count();

    for (uint32_t i = 0; i < SWEEP_ROWS && i < rows; i++) {
        uint32_t row = add_relaxed(&account_state()->sweep, 1u) % rows;
        struct thread *t = load_acquire(&account_state()->threads[row]);
        uint32_t owner = t != NULL ? load_relaxed(&t->owner_tid) : 0;
        uint32_t tid = owner & ((1u << TID_BITS) - 1);

        // If the row has the calling thread's id, its owner has ended, and the kernel has reused
        // the id.
        if (owner == 0 || (tid != own_tid && sys_tgkill(sys_getpid(), (int)tid, 0) != -ESRCH))
            continue;
        peak_collect_ended(t);
        if (cas_acq_rel(&t->owner_tid, &owner, 0u)) {
            add_relaxed(&account_state()->live_threads, -1u);
            add_relaxed(&account_state()->free_rows, 1u);
        }
    }
}

/* Take the row of an ended thread with the name NAME. Once there are NAMED_ROWS_MAX rows, take
 * any ended thread's, so that the number of rows stays bounded. Return NULL if there is none. */
static struct thread *
take_over(uint32_t tid, const char *name)
{
    uint32_t rows = thread_row_count();
    uint32_t first =
        load_relaxed(&account_state()->sweep); // Search backwards from here: these rows were freed
                                               // last.

    for (uint32_t i = 1; i <= rows && load_relaxed(&account_state()->free_rows) != 0; i++) {
        struct thread *t =
            load_acquire(&account_state()->threads[(first % rows + rows - i) % rows]);
        uint32_t nobody = 0;

        if (t == NULL || load_relaxed(&t->owner_tid) != 0)
            continue;
        if (rows < NAMED_ROWS_MAX && !thread_has_name(t->disk, name))
            continue;
        if (cas_acq_rel(&t->owner_tid, &nobody, owner_word(tid, load_relaxed(&t->disk->uses)))) {
            add_relaxed(&account_state()->free_rows, -1u);
            return t;
        }
    }
    return NULL;
}

static struct thread *
join_new_row(uint32_t tid)
{
    size_t blocks_bytes = sizeof(struct disk_block *) * (LIMIT_SITES / DISK_BLOCK_SITES + 1);
    struct table *rows = &state->tables[DISK_THREADS], *all_bins = &state->tables[DISK_BINS];
    uint64_t row = TABLE_NONE, bins = TABLE_NONE;
    struct thread *t;

    // Allocate either all memory or none, because each further event of the thread tries again.
    if (load_relaxed(&rows->full) || load_relaxed(&all_bins->full))
        return NULL;
    t = mem_private(sizeof *t + blocks_bytes);
    if (t == NULL)
        return NULL;
    if ((row = table_take(rows, 1)) >= LIMIT_THREADS ||
        (bins = table_take(all_bins, 1)) == TABLE_NONE) {
        mem_release(t, sizeof *t + blocks_bytes);
        return NULL;
    }
    t->blocks = (struct disk_block **)(void *)(t + 1);
    t->row = (uint32_t)row;
    t->disk = table_record(rows, row);
    t->bins = table_record(all_bins, bins);
    t->owner_tid = owner_word(tid, 0);
    t->shared = &state->header->shared;
    t->ledger = ledger_state()->ledger;
    t->direct_units = ledger_direct_units();
    t->generation = load_acquire(&state->generation);
    // Prefault the cache and the first pointers to blocks, which follow it. The first few walks
    // touch each page of the cache, with a read before a write, so each page would fault twice. All
    // events use the pointers.
    mem_touch(t->rules, t->blocks + TOUCHED_BLOCKS);
    store_release(&t->disk->id, (uint32_t)row);
    t->disk->bins = (uint32_t)bins;
    store_release(&account_state()->threads[row], t);
    core_record_add_thread(t);
    return t;
}

/* Return a row for the calling thread, reused or new. */
static COLD struct thread *
join(uint32_t tid)
{
    char name[16] = "";
    struct thread *t;

    sys_thread_name(name);
    t = take_over(tid, name);
    if (t == NULL)
        t = join_new_row(tid);
    if (t == NULL)
        return NULL;
    thread_set_name(t->disk, name);
    t->disk->tid = tid;
    bump(&t->disk->uses);
    // Drop all variant stacks if stacks are limited to a few frames. Such variants have no joining
    // frame to prove that they are readable, and may lie beyond the end of this thread's stack.
    if (stack_state()->depth_max != LIMIT_DEPTH)
        memo_forget_all(t);
    else
        memo_forget(t);
    peak_join(t);
    recent_clear(t);
    t->inner_count = 0;
    t->countdown = t->tick_events = 1;
    // Only the first thread ticks at each event, because a program may have many short threads.
    t->close_ticks = 0;
    if (load_relaxed(&account_state()->ticked_events) == 0) {
        t->close_ticks = TICK_CLOSE_EVENTS;
        // Each prediction is read before it is written, so each page would fault twice. Other
        // threads may have few stacks, so only the first one prefaults these pages.
        mem_touch(t->predicted, t->variant_at + countof(t->variant_at));
    }
    t->nested = NULL; // The owner of the nested struct has ended too, so any thread may take that
                      // struct.
    t->outer = NULL;
    t->level = 0;
    add_relaxed(&account_state()->live_threads, 1u);
    store_relaxed(&t->ready, (uint32_t)THREAD_STALE);
    peak_share();
    return t;
}

/* Return the thread id for the owner of the caller's row. A guest (platform/process.h) runs in
 * place of a thread of its parent, which outlives the guest. The recorder cannot find out which
 * thread that is, so the row belongs to the main thread and never becomes free. */
static uint32_t
owning_tid(bool guest)
{
    return (uint32_t)(guest ? identity_pid() : sys_gettid());
}

static COLD struct thread *
join_first(void)
{
    bool guest = identity_is_guest();
    uint32_t tid = owning_tid(guest);
    struct thread *t;

    // Free the rows of ended threads, except in three cases. In a quiet process, ended threads
    // cannot be found: the calling thread's id is invented and may equal a live thread's id. A
    // guest cannot find its parent's threads. A new process has no earlier threads.
    if (!sys_is_quiet() && !guest && load_relaxed(&account_state()->live_threads) != 0)
        sweep(tid);
    t = join(tid);
    if (t == NULL)
        return NULL;
    bounds_thread_begins(t);
    return t;
}

/* Make N the struct of handlers that interrupt the recorder while it uses T. */
static void
nest(struct thread *n, struct thread *t)
{
    n->level = t->level + 1;
    n->outer = t;
    n->disk->tid = t->disk->tid;
    n->stack_low = t->stack_low;
    n->stack_high = t->stack_high;
    n->thread_pointer = t->thread_pointer;
    n->stack_sought = t->stack_sought;
}

/* Return the calling thread's struct after T was created for it. Without system calls signals
 * cannot be blocked, so a handler may have joined in the meantime. Then the handler's struct
 * becomes the thread's, and T becomes the innermost nested struct, so that the thread has only one
 * row that is not nested. */
static struct thread *
resolve_join(struct thread *t)
{
    uint64_t owner = 0, nobody;
    struct thread *outer;

    if (t == NULL || arch_cas_alone((uint64_t *)(void *)&tls.self, &owner, (uintptr_t)t))
        return t != NULL ? t : tls.self;
    outer = (struct thread *)(uintptr_t)owner;
    do {
        while (outer->nested != NULL)
            outer = outer->nested;
        nest(t, outer);
        nobody = 0;
    } while (!arch_cas_alone((uint64_t *)(void *)&outer->nested, &nobody, (uintptr_t)t));
    return tls.self;
}

static bool
is_started(void)
{
    return (state != NULL && load_acquire(&state->ready) == READY_YES) || start_recording();
}

/* Return true if the event that has begun will certainly not be recorded. */
static bool
is_lost(void)
{
    if (state == NULL)
        return start_has_failed();
    return load_acquire(&state->ready) == READY_OFF && fork_child_waits();
}

struct thread *
join_thread(void)
{
    uint64_t mask;

    if (is_lost())
        return NULL;
    // Block signals: if a handler jumped out of here, the thread would never get a row.
    mask = sys_block_signals();
    // A handler may have joined after the caller's check.
    if (thread_is_ready(tls.self)) {
        sys_unblock_signals(mask);
        return tls.self;
    }
    tls.self = NULL;
    if (is_started()) {
        if (unlikely(event_state()->fork_child_events != 0))
            fork_child_report();
        tls.self = resolve_join(join_first());
        if (tls.self == NULL)
            add_relaxed(&state->header->losses.no_thread_events, UINT64_C(1));
    }
    sys_unblock_signals(mask);
    return tls.self;
}

void
join_forked(void)
{
    if (!thread_is_ready(tls.self))
        tls.self = NULL;
}

static COLD void
invalidate_stale(struct thread *t)
{
    memo_forget_all(t);
    short_forget(t);
    rules_forget(t->rules);
    coroutines_forget_code(t);
}

/* Return the ready state for the calling thread, whose stacks get frames of LANGUAGES languages and
 * are mostly short if CALLERS is true. */
static uint32_t
ready_state(uint32_t languages, bool callers)
{
    if (tls.labels == 0 && languages == 0 && !callers)
        return THREAD_READY;
    return tls.labels == 0 && !callers && language_is_bound() ? THREAD_MERGES
                                                              : THREAD_NEEDS_SLOW_PATH;
}

COLD void
join_refresh(struct thread *t)
{
    uint32_t ready = load_relaxed(&t->ready), generation;
    uint32_t languages = load_acquire(&language_count), change = load_acquire(&sample.change);
    bool callers = callers_are_sampled(t);

    tls.needs_slow_path = tls.labels != 0 || languages != 0 || callers;
    tls.short_stacks = callers && tls.labels == 0;
    while (ready != THREAD_NOT &&
           !cas_seq_cst(&t->ready, &ready, ready_state(languages, callers)))
        continue;
    if (unlikely(ready == THREAD_NOT))
        return; // A handler has forked: the child ends the interrupted event (fork_child.c).
    // An adapter has registered in the meantime, or the mode has changed: refresh again.
    if (unlikely(load_acquire(&language_count) != languages) ||
        unlikely(load_acquire(&sample.change) != change))
        thread_invalidate(t);
    generation = load_acquire(&state->generation);
    if (t->generation != generation) {
        t->generation = generation;
        invalidate_stale(t);
    }
    if (unlikely(t->merges != languages) || unlikely(path_ids_are_used_up(t))) {
        memo_forget_all(t);
        path_ids_reset(t);
        t->merges = languages;
    }
    peak_refresh(t);
    if (unlikely(event_state()->guard_due) && !guard_install_pending())
        thread_invalidate(t); // A guest cannot install them: try again when the owner runs.
}

static COLD struct thread *
make_nested(struct thread *t)
{
    uint64_t mask = sys_block_signals();
    struct thread *n = t->nested;

    // Use the outer struct's thread id: without system calls a new id would be invented.
    if (n == NULL && t->level < NESTED_MAX && (n = join(t->disk->tid)) != NULL) {
        nest(n, t);
        t->nested = n;
    }
    sys_unblock_signals(mask);
    return n;
}

struct thread *
join_nested(struct thread *t)
{
    return t->nested != NULL ? t->nested : make_nested(t);
}

/* join.c: assigns a struct to each thread, and frees it when the thread has ended.
 *
 * A thread gets a row at its first event. There is no usable notice of a thread's end: hooks at
 * thread exit are limited in number, run in an order outside the recorder's control, and miss later
 * allocations. Instead a row counts as free if its owner's thread id no longer exists in this
 * process; each new thread checks a few rows. A free row goes to the next thread of the same name,
 * which simply adds to its counters. So the file grows with the number of threads that are alive at
 * the same time, per name, instead of with the number of all threads ever. */
#include "event/start.h"

#include <errno.h>
#include <string.h>

#include "account/account_state.h"
#include "account/file.h"
#include "account/peak.h"
#include "account/recent.h"
#include "base/atomics.h"
#include "core/core_publish.h"
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
#include "stack/stack.h"
#include "stack/stack_state.h"
#include "stack/walk.h"

enum {
    SWEEP_ROWS = 8,        // Number of rows whose owner a new thread checks.
    NAMED_ROWS_MAX = 1024, // From this number of rows on, any free row is reused, whatever its
                           // name.
    TID_BITS = 22,         // Linux has no larger ids.
    TOUCHED_BLOCKS = 1024, // Number of pointers to blocks of counters to prefault, a page or two.
    // Maximum depth of nested signal handlers that each interrupt the recorder, and of longjmps out
    // of them. Each level needs a row.
    NESTED_MAX = 4,
};

/* Return the owner_tid of a row that thread TID uses as the USES-th user. A thread that finds a
 * dead owner may be slow to free the row: by then the thread id may belong to a new thread, which
 * has freed and taken the same row. The count distinguishes the two. */
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

        // A row with the calling thread's id belonged to an ended thread that had this id before.
        if (owner == 0 || (tid != own_tid && sys_tgkill(sys_getpid(), (int)tid, 0) != -ESRCH))
            continue;
        peak_collect_ended(t);
        if (cas_acq_rel(&t->owner_tid, &owner, 0u)) {
            add_relaxed(&account_state()->live_threads, -1u);
            add_relaxed(&account_state()->free_rows, 1u);
        }
    }
}

/* Take a free row named NAME, or any free row if there are many rows; NULL if there is none. */
static struct thread *
take_over(uint32_t tid, const char *name)
{
    uint32_t rows = thread_row_count();
    uint32_t first =
        load_relaxed(&account_state()->sweep); // The rows just before this one were freed last.

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

    // Allocate all memory first, or none, because each event of the thread tries again.
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
    // touch each page of the cache, with a read before a write, so it would fault twice. All events
    // touch these pointers.
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
    // Variant stacks of a few frames have no joining frame to prove that they are readable: they
    // may be further out than this thread's stack reaches.
    if (stack_state()->depth_max != LIMIT_DEPTH)
        memo_forget_all(t);
    else
        memo_forget(t);
    peak_join(t);
    recent_clear(t);
    t->inner_count = 0;
    t->countdown = t->tick_events = 1;
    // Only for the first thread, because a program may have many short ones.
    t->close_ticks =
        load_relaxed(&account_state()->ticked_events) == 0 ? TICK_CLOSE_EVENTS : 0;
    t->nested = NULL; // The nested struct's owner has ended together with T's, so it is free for
                      // any thread.
    t->outer = NULL;
    t->level = 0;
    add_relaxed(&account_state()->live_threads, 1u);
    store_relaxed(&t->ready, (uint32_t)THREAD_STALE);
    peak_share();
    return t;
}

/* Return the thread id for the owner of the caller's row. A guest (platform/process.h) uses a
 * thread of its parent, which outlives the guest. It is unknown which thread that is, so the row
 * belongs to the main thread and never becomes free. */
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

    // In three cases no row can be freed. In a quiet process, ended threads cannot be found: the
    // own id is invented and may equal a live thread's. A guest cannot find its parent's threads. A
    // new process has no earlier threads.
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

/* T is new, and the calling thread has none yet. Without system calls no signal is blocked, so a
 * handler may have joined meanwhile: then its struct is the thread's, and T the innermost nested
 * one, so that the thread has no two rows at once. Return the thread's struct. */
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
    // If a handler jumped out of here, the thread would never get a row.
    mask = sys_block_signals();
    // A handler may have joined since the caller's check.
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
    rules_forget(t->rules);
    coroutines_forget_code(t);
}

/* Return the state of the calling thread, whose stacks get frames of LANGUAGES. */
static uint32_t
ready_state(uint32_t languages)
{
    if (tls.labels == 0 && languages == 0)
        return THREAD_READY;
    return tls.labels == 0 && language_is_bound() ? THREAD_MERGES : THREAD_NEEDS_SLOW_PATH;
}

COLD void
join_refresh(struct thread *t)
{
    uint32_t ready = load_relaxed(&t->ready), generation;
    uint32_t languages = load_acquire(&language_count);

    tls.needs_slow_path = tls.labels != 0 || languages != 0;
    while (ready != THREAD_NOT && !cas_seq_cst(&t->ready, &ready, ready_state(languages)))
        continue;
    if (unlikely(ready == THREAD_NOT))
        return; // A handler has forked: the child ends the interrupted event (fork_child.c).
    if (unlikely(load_acquire(&language_count) != languages))
        thread_invalidate(t); // An adapter has registered in the meantime: check again.
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
        thread_invalidate(t); // Check again when the owner runs.
}

static COLD struct thread *
make_nested(struct thread *t)
{
    uint64_t mask = sys_block_signals();
    struct thread *n = t->nested;

    // The id is the outer one's: without system calls another would be made up.
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

/* thread.c: joining and leaving.
 *
 * A thread gets a row at its first event. Nothing tells us when it ends: hooks at thread exit are
 * limited in number, run in an order that is not ours, and do not see what is allocated after
 * them. Instead a row is known to be free when its owner's thread id is no longer one of this
 * process; each newcomer looks at a few rows. A free row goes to the next thread of the same
 * name, which simply counts on, so the file grows with the number of threads alive at once, per
 * name, and not with the number that ever lived.
 */
#include "monitor/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "monitor/arch_x86_64.h"
#include "monitor/bounds.h"
#include "monitor/file.h"
#include "monitor/mem.h"
#include "monitor/orphan.h"
#include "monitor/peak.h"
#include "monitor/stack.h"
#include "monitor/start.h"
#include "monitor/sys.h"

enum {
    SWEEP_ROWS = 8,        // Rows whose owner a newcomer looks at.
    NAMED_ROWS_MAX = 1024, // With so many rows a free one is taken whatever its name.
    TID_BITS = 22,         // Linux has no larger ids.
    // Signal handlers that interrupt the recorder inside one another, and jumps out of such: each
    // costs a row.
    NESTED_MAX = 4,
    START_STACK_BYTES = 256 << 10,
};

/* What stands in owner_tid while thread TID uses the row for the USES-th time. A newcomer that
 * finds a dead owner may come to free the row only after the thread id has been given to another
 * thread, which has freed and taken the row itself; the use tells them apart. */
static uint32_t
owner_word(uint32_t tid, uint32_t uses)
{
    return tid | uses << TID_BITS;
}

uint32_t
thread_row_count(void)
{
    uint64_t used = load_acquire(&state->tables[DISK_THREADS].used);

    return used < LIMIT_THREADS ? (uint32_t)used : LIMIT_THREADS;
}

/* Free the rows of ended threads among the next SWEEP_ROWS. */
static void
sweep(uint32_t own_tid)
{
    uint32_t rows = thread_row_count();

    for (uint32_t i = 0; i < SWEEP_ROWS && i < rows; i++) {
        uint32_t row = add_relaxed(&state->sweep, 1u) % rows;
        struct thread *t = load_acquire(&state->threads[row]);
        uint32_t owner = t != NULL ? load_relaxed(&t->owner_tid) : 0;
        uint32_t tid = owner & ((1u << TID_BITS) - 1);

        // A row that carries our own id belonged to an ended thread that had the id before us.
        if (owner == 0 || (tid != own_tid && sys_tgkill(sys_getpid(), (int)tid, 0) != -ESRCH))
            continue;
        peak_collect_ended(t);
        if (cas_acq_rel(&t->owner_tid, &owner, 0u)) {
            add_relaxed(&state->live_threads, -1u);
            add_relaxed(&state->free_rows, 1u);
        }
    }
}

/* Names change while others read them, so they are copied and compared in words. */
static_assert(DISK_THREAD_NAME_BYTES == 16 && offsetof(struct disk_thread, name) % 8 == 0,
              "a name is two words");

static void
set_name(struct disk_thread *d, const char *name)
{
    uint64_t words[2];

    memcpy(words, name, sizeof words);
    store_relaxed(&((uint64_t *)(void *)d->name)[0], words[0]);
    store_relaxed(&((uint64_t *)(void *)d->name)[1], words[1]);
}

static bool
has_name(const struct disk_thread *d, const char *name)
{
    uint64_t words[2];

    memcpy(words, name, sizeof words);
    return load_relaxed(&((const uint64_t *)(const void *)d->name)[0]) == words[0] &&
           load_relaxed(&((const uint64_t *)(const void *)d->name)[1]) == words[1];
}

/* A free row, of NAME unless there are too many already; NULL if there is none. */
static struct thread *
take_over(uint32_t tid, const char *name)
{
    uint32_t rows = thread_row_count();
    uint32_t first = load_relaxed(&state->sweep); // The rows just before it were freed last.

    for (uint32_t i = 1; i <= rows && load_relaxed(&state->free_rows) != 0; i++) {
        struct thread *t = load_acquire(&state->threads[(first % rows + rows - i) % rows]);
        uint32_t nobody = 0;

        if (t == NULL || load_relaxed(&t->owner_tid) != 0)
            continue;
        if (rows < NAMED_ROWS_MAX && !has_name(t->disk, name))
            continue;
        if (cas_acq_rel(&t->owner_tid, &nobody, owner_word(tid, load_relaxed(&t->disk->uses)))) {
            add_relaxed(&state->free_rows, -1u);
            return t;
        }
    }
    return NULL;
}

static struct thread *
new_row(uint32_t tid)
{
    size_t blocks_bytes = sizeof(struct disk_block *) * (LIMIT_SITES / DISK_BLOCK_SITES + 1);
    struct table *rows = &state->tables[DISK_THREADS], *all_bins = &state->tables[DISK_BINS];
    uint64_t row = TABLE_NONE, bins = TABLE_NONE;
    struct thread *t;

    // Memory first, and all or nothing: this is tried again at every event of the thread.
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
    t->ledger = state->ledger_plain;
    t->generation = load_acquire(&state->generation);
    store_release(&t->disk->id, (uint32_t)row);
    t->disk->bins = (uint32_t)bins;
    store_release(&state->threads[row], t);
    return t;
}

void
thread_refresh_name(struct thread *t)
{
    char name[16] = "";

    if (sys_thread_name(name) == 0)
        set_name(t->disk, name);
}

void
thread_tell(struct thread *t)
{
    uint32_t ready = load_relaxed(&t->ready);

    // After what there is to tell was written; thread_look_up does the opposite.
    while (ready != THREAD_NOT && !cas_seq_cst(&t->ready, &ready, (uint32_t)THREAD_STALE))
        continue;
}

void
thread_tell_all(void)
{
    uint32_t rows = thread_row_count();

    for (uint32_t i = 0; i < rows; i++) {
        struct thread *t = load_acquire(&state->threads[i]);

        if (t != NULL)
            thread_tell(t);
    }
}

/* A row for the calling thread, free or new. */
static COLD struct thread *
join(uint32_t tid)
{
    char name[16] = "";
    struct thread *t;

    sys_thread_name(name);
    t = take_over(tid, name);
    if (t == NULL)
        t = new_row(tid);
    if (t == NULL)
        return NULL;
    set_name(t->disk, name);
    t->disk->tid = tid;
    bump(&t->disk->uses);
    // Passing stacks of a few frames hang on nothing that shows that they can be read: they may
    // have been further out than this thread's stack reaches.
    if (state->depth_max != LIMIT_DEPTH)
        stack_forget_all(t);
    else
        stack_forget(t);
    peak_join(t);
    t->last_block = NULL;
    t->inner_count = 0;
    t->countdown = LIMIT_TICK_EVENTS;
    t->nested = NULL; // Its owner has ended like that of T, so it is free for anyone.
    t->outer = NULL;
    t->level = 0;
    add_relaxed(&state->live_threads, 1u);
    store_relaxed(&t->ready, (uint32_t)THREAD_STALE);
    peak_share();
    return t;
}

static COLD struct thread *
join_first(void)
{
    uint32_t tid = (uint32_t)sys_gettid();
    struct thread *t;

    sweep(tid);
    t = join(tid);
    if (t == NULL)
        return NULL;
    bounds_thread_begins(t);
    return t;
}

/* Starting takes more stack (paths, messages) than a thread or a handler with the smallest allowed
 * one has left, so it gets its own for the time. */
static COLD bool
start_on_own_stack(void)
{
    unsigned char *stack = sys_mmap(NULL, START_STACK_BYTES, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool started;

    if (sys_failed(stack))
        return start_recording();
    started = arch_call_on(stack + START_STACK_BYTES, start_recording);
    sys_munmap(stack, START_STACK_BYTES);
    return started;
}

static bool
is_started(void)
{
    return (state != NULL && load_acquire(&state->ready) == READY_YES) || start_on_own_stack();
}

struct thread *
thread_join(void)
{
    uint64_t mask;

    tls.busy = BUSY_MONITOR;
    signal_fence();
    if (state != NULL && load_acquire(&state->ready) == READY_OFF && orphan_waits())
        return NULL;
    // A handler that jumped out of here would leave the thread without a row for ever.
    mask = sys_block_signals();
    // A handler may have been here since the caller looked.
    if (thread_is_ready(tls.self)) {
        sys_unblock_signals(mask);
        return tls.self;
    }
    tls.self = NULL;
    if (is_started()) {
        if (unlikely(state->orphan_events != 0))
            orphan_report();
        tls.self = join_first();
        if (tls.self == NULL)
            add_relaxed(&state->header->losses.no_thread_events, UINT64_C(1));
    }
    sys_unblock_signals(mask);
    return tls.self;
}

static COLD void
forget_stale(struct thread *t)
{
    stack_forget_all(t);
    for (uint32_t i = 0; i < RULE_CACHE_ENTRIES; i++)
        if (t->rules[i].rule.kind != RULE_NONE) // Leaves pages untouched that no rule is in.
            t->rules[i].rule.kind = RULE_NONE;
}

COLD void
thread_look_up(struct thread *t)
{
    uint32_t generation;

    exchange_seq_cst(&t->ready, (uint32_t)(tls.labels == 0 ? THREAD_READY : THREAD_LABELLED));
    generation = load_acquire(&state->generation);
    if (t->generation != generation) {
        t->generation = generation;
        forget_stale(t);
    }
    peak_look_up(t);
}

static COLD struct thread *
make_nested(struct thread *t)
{
    uint64_t mask = sys_block_signals();
    struct thread *n = t->nested;

    if (n == NULL && t->level < NESTED_MAX && (n = join((uint32_t)sys_gettid())) != NULL) {
        n->level = t->level + 1;
        n->outer = t;
        n->stack_low = t->stack_low;
        n->stack_high = t->stack_high;
        n->thread_pointer = t->thread_pointer;
        n->foreign_next = 0;
        __builtin_memcpy(n->foreign, t->foreign, sizeof n->foreign);
        t->nested = n;
    }
    sys_unblock_signals(mask);
    return n;
}

struct thread *
thread_nested(struct thread *t)
{
    return t->nested != NULL ? t->nested : make_nested(t);
}

COLD struct disk_counter *
thread_counter_make(struct thread *t, uint32_t site)
{
    uint64_t index = table_take(&state->tables[DISK_COUNTERS], 1);
    struct disk_block *b;

    if (index == TABLE_NONE)
        return NULL;
    b = table_record(&state->tables[DISK_COUNTERS], index);
    b->first_site = site / DISK_BLOCK_SITES * DISK_BLOCK_SITES;
    store_release(&b->thread, t->row);
    t->blocks[site / DISK_BLOCK_SITES] = b;
    return &b->counters[site % DISK_BLOCK_SITES];
}

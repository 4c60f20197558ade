/* history.c: takes snapshots without copying the counters.
 *
 *     snapshot ─► announce: latest id, its epoch ─► raise the epoch     (any thread, at any moment)
 *     event ─► counter older than the epoch? (peak.h) ─► older than the latest snapshot?
 *                                                         └► HISTORY: id, counter, its values
 *
 * A snapshot takes an id and raises the epoch by one. Before a counter changes, it compares its own
 * epoch with the current one; the peak requires this comparison too. If its epoch is older, it
 * first records its present values. These are its values at the latest snapshot, and at every
 * snapshot since its previous record. A counter that never changes again needs no record, because
 * it keeps its values. So a snapshot costs one record per counter that changes after it. The cost
 * of an event is unchanged, and the file is correct at every instant.
 *
 * A snapshot is announced before the epoch is raised. A thread reads in the opposite order: the
 * epoch, its counter's epoch, then the snapshot's id. So a thread that sees the new epoch also sees
 * the new snapshot. A thread that sees an announcement before the epoch is raised records its
 * values under the new id, too early by the duration of one call. Later it records other values
 * under the same id. A reader ignores these: the first record of a counter for a snapshot counts.
 * There are no waits and no locks, so threads may take snapshots concurrently. Their ids may then
 * be announced out of order. A snapshot that is announced after one with a higher id has the same
 * values as that one.
 *
 * The timeline consists of snapshots too, so it covers every stack. The number of timeline
 * snapshots and their size in HISTORY are both bounded: when either has used its share, the
 * interval between snapshots doubles. Each interval uses at most a fortieth of HISTORY before it
 * doubles, and 28 doublings stretch 16 milliseconds to 50 days. The same rule spaces the periodic
 * snapshots that a tool requests.
 *
 * A snapshot needs room for a record of each counter. With less room the snapshot is refused,
 * because a counter without a record would seem to have a later value at that snapshot. Refused
 * snapshots and missing records are counted as losses. Records are missing only if a quarter of
 * HISTORY has no room for all counters, or if the file cannot grow. If a record does not fit into
 * the file, it is not stored in memory either.
 *
 * Idle periods. A program may be idle between two ticks, in a rest. Values after the rest are close
 * to those at the last tick, so a timeline snapshot taken after the rest gets the time of that
 * tick. With its own time, the curve would show an earlier change only at the end of the rest. Live
 * bytes decide: if they changed more before the last tick than since, the change preceded the rest.
 * If a snapshot is requested during a rest, a timeline snapshot with the earlier time is taken
 * first, and the requested one then has its true time: times rise with ids. A thread that ticks at
 * each event need not guess: before the event that ends a rest, its values equal the last tick's.
 *
 * docs/internals/history.md has the proof and the figures. */
#include "account/history.h"

#include <sys/mman.h>

#include "account/account_state.h"
#include "account/file.h"
#include "base/atomics.h"
#include "base/fmt.h"
#include "format/environment.h"
#include "platform/host.h"
#include "platform/mem.h"
#include "platform/sys.h"

#define FIRST_WIDTH_NS (UINT64_C(16) * 1000 * 1000)

/* Shares of the tables. The interval (width_ns) doubles after a 64th of SNAPSHOTS or an 80th of
 * HISTORY was used, and again after each further 40th of HISTORY. The timeline leaves a quarter of
 * HISTORY to other snapshots. */
enum { WIDTH_SNAPSHOTS = 64, WIDTH_HISTORY = 80, DOUBLING_HISTORY = 40, WIDTH_SHIFT_MAX = 38 };

/* A requested period doubles only after 1/PERIOD_SNAPSHOTS of SNAPSHOTS was used. */
enum { PERIOD_SNAPSHOTS = 8 };

/* Number of records after which earlier pages are dropped. 512 records fill six pages, few enough
 * for one event to wait for. */
enum { LET_GO_RECORDS = 512 };

/* Settings from the environment, constant for the process. */
static struct {
    uint64_t growth_bytes;
    uint32_t signal;
} asked;

void
history_start(void)
{
    account_state()->timed.width_ns = account_state()->snapshot_next_ns = FIRST_WIDTH_NS;
    // Save the settings here, because a daemon may clear its environment and then fork.
    if (!state->forked) {
        asked.growth_bytes = host_number(ENVIRONMENT_SNAPSHOT_GROWTH);
        asked.signal = (uint32_t)host_number(ENVIRONMENT_SNAPSHOT_SIGNAL);
    }
    account_state()->growth_bytes = asked.growth_bytes;
    account_state()->snapshot_signal = asked.signal;
}

/* --- Taking one ------------------------------------------------------------------------------- */

/* Return the number of existing snapshots at which KIND is refused. */
static uint64_t
snapshots_max(enum disk_snapshot_kind kind)
{
    uint64_t all =
        load_relaxed(&state->tables[DISK_SNAPSHOTS].max_bytes) / sizeof(struct disk_snapshot);
    uint64_t kept;

    if (all > LIMIT_SNAPSHOTS)
        all = LIMIT_SNAPSHOTS;
    kept = all / (LIMIT_SNAPSHOTS / LIMIT_SNAPSHOTS_ASKED);
    if (kind == DISK_SNAPSHOT_TIMED)
        return all - kept;
    // These two kinds are automatic. They leave half of the room for requested snapshots to the
    // other kinds.
    return kind == DISK_SNAPSHOT_GROWTH || kind == DISK_SNAPSHOT_PERIOD ? all - kept / 2 : all;
}

static uint64_t
history_bytes(void)
{
    return load_relaxed(&state->tables[DISK_HISTORY].used) * sizeof(struct disk_history);
}

/* Return the number of bytes to reserve for the records of a new snapshot: one record per counter,
 * but at most a quarter of BYTES_MAX. */
static uint64_t
owed_bytes(uint64_t bytes_max)
{
    uint64_t counters = load_relaxed(&state->tables[DISK_COUNTERS].used) * DISK_BLOCK_SITES;
    uint64_t bytes = counters * sizeof(struct disk_history);

    return bytes < bytes_max / 4 ? bytes : bytes_max / 4;
}

static bool
history_is_room(enum disk_snapshot_kind kind)
{
    const struct table *history = &state->tables[DISK_HISTORY];
    uint64_t bytes_max = load_relaxed(&history->max_bytes);

    bytes_max -= kind == DISK_SNAPSHOT_TIMED ? bytes_max / 4 : owed_bytes(bytes_max);
    return !load_relaxed(&history->full) && !load_relaxed(&account_state()->file_failed) &&
           !mem_is_full() && history_bytes() < bytes_max &&
           load_relaxed(&state->tables[DISK_SNAPSHOTS].used) < snapshots_max(kind);
}

static void
announce(uint32_t id)
{
    uint32_t latest = load_relaxed(&account_state()->snapshot_latest);

    while (latest < id && !cas_acq_rel(&account_state()->snapshot_latest, &latest, id))
        continue;
    // Paired with history_note, through peak_catch_up.
    epoch_raise(&state->header->shared.snapshot_epoch);
}

static void
raise_last(uint64_t elapsed_ns)
{
    uint64_t last = load_relaxed(&account_state()->snapshot_last_ns);

    while (last < elapsed_ns && !cas_acq_rel(&account_state()->snapshot_last_ns, &last, elapsed_ns))
        continue;
}

static int64_t
live_bytes(const struct thread *t)
{
    return load_relaxed(&state->multi) || !thread_is_ready(t)
               ? load_relaxed(&account_state()->sums.published_bytes)
               : t->live_besides + t->live_bytes;
}

static enum disk_answer
history_take(const char *name, enum disk_snapshot_kind kind, uint64_t elapsed_ns)
{
    struct table *t = &state->tables[DISK_SNAPSHOTS];
    struct disk_snapshot *s;
    uint64_t index;

    if (!history_is_room(kind) || (index = table_take(t, 1)) == TABLE_NONE)
        return DISK_ANSWER_FULL;
    s = table_record(t, index);
    for (size_t i = 0; name != NULL && i < sizeof s->name && name[i] != '\0'; i++)
        s->name[i] = name[i];
    s->live_bytes = live_bytes(tls.self);
    s->id = (uint32_t)index + 1;
    s->kind = (uint32_t)kind;
    s->collections = load_relaxed(&account_state()->collections);
    announce(s->id);
    raise_last(elapsed_ns);
    store_release(&s->elapsed_ns, elapsed_ns + 1);
    return DISK_ANSWER_DONE;
}

enum disk_answer
history_snapshot(const char *name, enum disk_snapshot_kind kind)
{
    const struct disk_shared *s = &state->header->shared;
    // Block signals: if a handler jumped out of here, an announcement would lack its snapshot.
    uint64_t mask = sys_block_signals();
    uint64_t elapsed_ns = sys_clock_ns() - state->start_ns;
    enum disk_answer answer;

    history_end(tls.self, elapsed_ns, load_relaxed(&s->last_ns), load_relaxed(&s->flushed_bytes));
    answer = history_take(name, kind, elapsed_ns);
    sys_unblock_signals(mask);
    return answer;
}

/* Take a snapshot for a caller that cannot receive a result. Count a refusal as a loss. */
static void
take_numbered(const char *what, uint32_t number, enum disk_snapshot_kind kind)
{
    char name[DISK_SNAPSHOT_NAME_BYTES];
    struct fmt f = fmt_init(name, sizeof name);

    fmt_str(&f, what);
    fmt_char(&f, ' ');
    fmt_uint(&f, number);
    if (history_snapshot(name, kind) != DISK_ANSWER_DONE)
        add_relaxed(&state->header->losses.history_records, UINT64_C(1));
}

void
history_signal(void)
{
    take_numbered("signal", add_relaxed(&account_state()->signal_count, 1u) + 1,
                  DISK_SNAPSHOT_SIGNAL);
}

/* --- When one is due -------------------------------------------------------------------------- */

/* Double the interval of P if P has used its share: 1 / SHARE of SNAPSHOTS, or 1 / WIDTH_HISTORY of
 * HISTORY. */
static void
history_widen(struct snapshot_pace *p, uint64_t share)
{
    uint64_t snapshots = snapshots_max(DISK_SNAPSHOT_PROGRAM) / share;
    uint64_t bytes_max = load_relaxed(&state->tables[DISK_HISTORY].max_bytes);
    uint64_t bytes = history_bytes() - p->history_bytes;
    uint64_t shift;

    if (p->taken < snapshots && bytes < bytes_max / WIDTH_HISTORY)
        return;
    shift = (bytes + bytes_max / DOUBLING_HISTORY) / (bytes_max / DOUBLING_HISTORY);
    while (shift-- > 0 && p->width_ns < FIRST_WIDTH_NS << WIDTH_SHIFT_MAX)
        store_relaxed(&p->width_ns, p->width_ns * 2);
    p->taken = 0;
    p->history_bytes = history_bytes();
}

enum disk_answer
history_periodic(const char *name)
{
    struct snapshot_pace *p = &account_state()->period;
    uint64_t elapsed_ns = sys_clock_ns() - state->start_ns, since_ns = elapsed_ns - p->last_ns;

    // A request up to a quarter of the interval early is on time: if the previous tick was late,
    // the next tick is punctual but seems early.
    if (since_ns < p->width_ns - p->width_ns / 4)
        return DISK_ANSWER_FULL;
    if (p->taken == 1 && p->width_ns == 0)
        store_relaxed(&p->width_ns, since_ns);
    history_widen(p, PERIOD_SNAPSHOTS);
    p->taken++;
    p->last_ns = elapsed_ns;
    return history_snapshot(name, DISK_SNAPSHOT_PERIOD);
}

static uint64_t
distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Return true if a snapshot at ELAPSED_NS may get the time of the last tick, BEFORE_NS, because the
 * process has been idle since. */
static bool
has_rested(uint64_t elapsed_ns, uint64_t before_ns)
{
    int64_t rested = (int64_t)(elapsed_ns - before_ns);

    // Ids must rise with time, so a snapshot taken since the tick rules out the time of the tick.
    // Another thread may have read the clock after this one. The result is only a hint unless the
    // caller holds snapshot_busy.
    return rested >= (int64_t)load_relaxed(&account_state()->timed.width_ns) &&
           load_relaxed(&account_state()->snapshot_last_ns) <= before_ns;
}

/* Return the time to store for a timeline snapshot that is taken at ELAPSED_NS. The result is the
 * time of the last tick, BEFORE_NS, if the process has been idle since and most of the change
 * preceded the tick; else ELAPSED_NS. BEFORE_BYTES were live at that tick. */
static uint64_t
history_time_of(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns,
                int64_t before_bytes)
{
    uint64_t since = distance(live_bytes(t), before_bytes);
    int64_t shown_bytes = load_relaxed(&account_state()->snapshot_live_bytes);

    return has_rested(elapsed_ns, before_ns) && since < distance(before_bytes, shown_bytes)
               ? before_ns
               : elapsed_ns;
}

/* Take the timeline snapshot that is due at ELAPSED_NS, and store TAKEN_NS as its time. Requires
 * snapshot_busy. */
static COLD void
take_due(const struct thread *t, uint64_t elapsed_ns, uint64_t taken_ns)
{
    history_widen(&account_state()->timed, WIDTH_SNAPSHOTS);
    account_state()->timed.taken++;
    history_take(NULL, DISK_SNAPSHOT_TIMED, taken_ns);
    store_relaxed(&account_state()->snapshot_live_bytes, live_bytes(t));
    store_relaxed(&account_state()->snapshot_next_ns,
                  elapsed_ns + account_state()->timed.width_ns);
}

static COLD void
take_timed(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns, int64_t before_bytes)
{
    uint64_t mask = sys_block_signals();
    uint32_t idle = 0;

    // If another thread is taking a snapshot, that one suffices: it has the same time.
    if (cas_acq_rel(&account_state()->snapshot_busy, &idle, 1u)) {
        take_due(t, elapsed_ns, history_time_of(t, elapsed_ns, before_ns, before_bytes));
        store_release(&account_state()->snapshot_busy, 0u);
    }
    sys_unblock_signals(mask);
}

/* Take a snapshot if live bytes have grown enough since their minimum after the latest growth
 * snapshot. So growth that follows a decrease counts too. */
static COLD void
check_growth(const struct thread *t)
{
    int64_t live = live_bytes(t);
    int64_t base = load_relaxed(&account_state()->growth_base);

    if (live < base)
        store_relaxed(&account_state()->growth_base, live);
    else if ((uint64_t)(live - base) >= account_state()->growth_bytes &&
             cas_acq_rel(&account_state()->growth_base, &base, live))
        take_numbered("growth", add_relaxed(&account_state()->growth_count, 1u) + 1,
                      DISK_SNAPSHOT_GROWTH);
}

void
history_poll(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns, int64_t before_bytes)
{
    if (unlikely(elapsed_ns >= load_relaxed(&account_state()->snapshot_next_ns)))
        take_timed(t, elapsed_ns, before_ns, before_bytes);
    if (unlikely(account_state()->growth_bytes != 0))
        check_growth(t);
}

void
history_rested(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns)
{
    uint32_t idle = 0;
    uint64_t mask;

    if (elapsed_ns < load_relaxed(&account_state()->snapshot_next_ns) ||
        !has_rested(elapsed_ns, before_ns))
        return;
    mask = sys_block_signals();
    if (cas_acq_rel(&account_state()->snapshot_busy, &idle, 1u)) {
        if (has_rested(elapsed_ns, before_ns))
            take_due(t, elapsed_ns, before_ns);
        store_release(&account_state()->snapshot_busy, 0u);
    }
    sys_unblock_signals(mask);
}

void
history_end(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns, int64_t before_bytes)
{
    if (elapsed_ns >= load_relaxed(&account_state()->snapshot_next_ns) &&
        history_time_of(t, elapsed_ns, before_ns, before_bytes) == before_ns)
        take_timed(t, elapsed_ns, before_ns, before_bytes);
}

/* --- Values of the counters ------------------------------------------------------------------- */

/* Return the value of disk_history's `index` for C. */
static uint32_t
counter_index(const struct disk_counter *c)
{
    const unsigned char *base = state->tables[DISK_COUNTERS].base;
    uint64_t off = (uint64_t)((const unsigned char *)c - base);
    uint64_t within = off % sizeof(struct disk_block) - offsetof(struct disk_block, counters);

    return (uint32_t)(off / sizeof(struct disk_block) * DISK_BLOCK_SITES + within / sizeof *c);
}

/* Drop pages with records before INDEX from memory, because the recorder never reads records again.
 * Has no effect if the records are only in memory. Drop whole pages, and keep the latest ones, to
 * which other threads may still be writing. */
static void
let_go_before(const struct table *t, uint64_t index)
{
    static_assert(LET_GO_RECORDS * sizeof(struct disk_history) % DISK_PAGE_BYTES == 0, "pages");
    size_t size_bytes = LET_GO_RECORDS * sizeof(struct disk_history);
    uint64_t end = index * sizeof(struct disk_history);

    if (index % LET_GO_RECORDS == 0 && end >= 2 * size_bytes && !state->in_memory &&
        !load_relaxed(&account_state()->file_failed))
        sys_madvise(t->base + end - 2 * size_bytes, size_bytes, MADV_DONTNEED);
}

COLD void
history_note(struct disk_counter *c)
{
    uint32_t latest = load_acquire(&account_state()->snapshot_latest);
    struct table *t = &state->tables[DISK_HISTORY];
    struct disk_history *h;
    uint64_t index;

    // A new counter needs no record, because its values are zeros. It may have bytes without a
    // call: if an object of a heap of the program has grown, heap_alloc is called with a
    // count of 0.
    if (c->allocations == 0 && c->frees == 0 && c->allocated_bytes == 0 && c->freed_bytes == 0) {
        store_relaxed(&c->born, latest);
        return;
    }
    index = table_take(t, 1);
    if (index == TABLE_NONE) {
        add_relaxed(&state->header->losses.history_records, UINT64_C(1));
        return;
    }
    h = table_record(t, index);
    h->counter = counter_index(c);
    h->allocations = c->allocations;
    h->allocated_bytes = c->allocated_bytes;
    h->frees = c->frees;
    h->freed_bytes = c->freed_bytes;
    store_release(&h->snapshot, latest);
    let_go_before(t, index);
}

/* sample.c: which blocks are recorded, and the events of those that were chosen at random.
 *
 *     gate ─► credit left ─► the next allocator                          (sample.h, inline)
 *          └► none: look ─┬► poll: clock, control words, phase
 *                         ├► not yet a sample: new credit, pass
 *                         └► sample: draw the next distance, record with weight
 *
 * A counter holds an estimate: a sample adds as many blocks and bytes as it stands for (draw.c),
 * and its free takes exactly the same away, so that live values, the peak and all views work as
 * they do with exact counts, and exact and sampled phases add up. What the estimate may be off by
 * is kept beside it, per site and for the whole process, in DISK_ERRORS.
 *
 * A *phase* is one way of recording, from one change to the next. The ledger's entry of a sample
 * has the number of its phase; so its free counts what its allocation did, whatever the phase is by
 * then. A thread takes a new phase over at its next look, or at its next event when it records
 * them all.
 *
 * What a free finds in the ledger is exact or a sample. If it finds nothing, the block was left
 * out: that is no loss. It stays so after a change to exact, so from then on unknown frees are
 * counted apart. A free of what has just been freed is told from that of a block left out that
 * has got the same address only if the thread has not allocated since, and is alone.
 *
 * Most frees are of blocks that were left out. A table of one byte for each page tells so: how many
 * samples live there. It is right about zero; all else asks the ledger. When exact recording ends
 * the ledger is full of blocks that the table does not know, so it is filled up and says "perhaps"
 * to everything. The sample that a thread has freed last stays in the table until the thread's next
 * look, so that a second free of it is seen.
 *
 * The profile is a file that others can write to. What is read from it is a request: mode and
 * period are checked, a name is bytes.
 */
#include "monitor/sample.h"

#include "base/fmt.h"
#include "base/hash.h"
#include "monitor/apart.h"
#include "monitor/enter.h"
#include "monitor/file.h"
#include "monitor/heap.h"
#include "monitor/history.h"
#include "monitor/hook.h"
#include "monitor/host.h"
#include "monitor/idle.h"
#include "monitor/label.h"
#include "monitor/mem.h"
#include "monitor/nodes.h"
#include "monitor/peak.h"
#include "monitor/stack.h"
#include "monitor/sys.h"
#include "monitor/thread.h"
#include "monitor/tick.h"
#include "monitor/unknown.h"

struct sample sample;
_Alignas(64) uint8_t sample_filter[SAMPLE_FILTER_PAGES];

enum { FILTER_MANY = 255 };

/* Calls that pass before a thread looks again; far from where additions would overflow. */
#define IDLE_CREDIT (INT64_MAX / 2)

#define NS_PER_MS UINT64_C(1000000)

static_assert(LIMIT_PHASES < 1 << (32 - LEDGER_PHASE_SHIFT), "a phase fits into an entry");

/* --- Phases ----------------------------------------------------------------------------------- */

/* What the environment asks for. A program that was started by a forked child reads it anew, so
 * for it the time begins again. */
static void
learn(void)
{
    uint64_t bytes = host_number("HEAPTAP_SAMPLE"), calls = host_number("HEAPTAP_SAMPLE_COUNT");
    uint64_t delay_ms = host_number("HEAPTAP_DELAY");
    uint64_t duration_ms = host_number("HEAPTAP_DURATION");

    sample.wanted = draw_phase(DISK_MODE_EXACT, 0);
    if (draw_is_valid(DISK_MODE_BYTES, bytes))
        sample.wanted = draw_phase(DISK_MODE_BYTES, bytes);
    else if (draw_is_valid(DISK_MODE_COUNT, calls))
        sample.wanted = draw_phase(DISK_MODE_COUNT, calls);
    if (delay_ms != 0)
        sample.begin_ns = sys_clock_ns() + delay_ms * NS_PER_MS;
    if (duration_ms != 0)
        sample.end_ns = sys_clock_ns() + (delay_ms + duration_ms) * NS_PER_MS;
    sample.phases[0] = delay_ms != 0 ? draw_phase(DISK_MODE_OFF, 0) : sample.wanted;
    sample.known = true;
}

static struct disk_phase *
phase_record(uint32_t index)
{
    return table_record(&state->tables[DISK_PHASES], index);
}

/* Add a phase to the profile: its index, or LIMIT_PHASES when there is no room. */
static uint32_t
add_phase(const struct draw_phase *phase)
{
    struct table *t = &state->tables[DISK_PHASES];
    struct disk_phase *r;
    uint64_t index;

    if (t->used >= LIMIT_PHASES || (index = table_take(t, 1)) == TABLE_NONE)
        return LIMIT_PHASES;
    r = phase_record((uint32_t)index);
    r->mode = phase->mode;
    r->period = phase->period;
    r->since_ns = sys_clock_ns() - state->start_ns;
    store_release(&r->id, (uint32_t)index + 1);
    sample.phases[index] = *phase;
    return (uint32_t)index;
}

/* An earlier phase like PHASE; LIMIT_PHASES if there is none. */
static uint32_t
find_phase(const struct draw_phase *phase)
{
    for (uint32_t i = 0; i < state->tables[DISK_PHASES].used; i++)
        if (sample.phases[i].mode == phase->mode && sample.phases[i].period == phase->period)
            return i;
    return LIMIT_PHASES;
}

void
sample_filter_add(const void *p)
{
    uint8_t *count = sample_filter_of(p), there = load_relaxed(count);

    while (there != FILTER_MANY && !cas_acq_rel(count, &there, (uint8_t)(there + 1)))
        continue;
}

void
sample_filter_keep(const void *p)
{
    store_relaxed(sample_filter_of(p), (uint8_t)FILTER_MANY);
}

static void
filter_drop(const void *p)
{
    uint8_t *count = sample_filter_of(p), there = load_relaxed(count);

    while (there != FILTER_MANY && there != 0 && !cas_acq_rel(count, &there, (uint8_t)(there - 1)))
        continue;
}

static void
filter_fill(void)
{
    // Other threads look on: word by word, and no libc function that is not imported anyway.
    for (size_t i = 0; i < SAMPLE_FILTER_PAGES; i += sizeof(uint64_t))
        store_relaxed((uint64_t *)(void *)&sample_filter[i], UINT64_MAX);
}

static void
make_present(uint32_t index)
{
    const struct draw_phase *p = &sample.phases[index];

    if (p->mode != DISK_MODE_EXACT && sample.mode == DISK_MODE_EXACT && state->ready == READY_YES)
        filter_fill();
    state->header->sample_period_bytes = p->mode == DISK_MODE_BYTES ? p->period : 0;
    if (p->mode != DISK_MODE_EXACT)
        store_relaxed(&state->gaps, 1u);
    store_relaxed(&sample.present, index);
    store_relaxed(&sample.mode, p->mode);
    // After what it announces; paired with sample_adopt.
    store_release(&sample.change, sample.change + 1);
    thread_tell_all();
}

void
sample_start(void)
{
    if (!sample.known)
        learn();
    else
        sample.phases[0] = sample.phases[sample.present];
    state->errors = mem_private(sizeof *state->errors * (size_t)(LIMIT_SITES + 1));
    add_phase(&sample.phases[0]);
    make_present(0);
}

void
sample_adopt(void)
{
    uint32_t change = load_acquire(&sample.change);
    uint32_t index = load_relaxed(&sample.present);
    const struct draw_phase *p = &sample.phases[index];

    if (likely(change == tls.change))
        return;
    tls.change = change;
    tls.phase = index;
    tls.charge_mask = p->mask;
    tls.reserve = -1; // No distance yet.
    tls.exact = p->mode == DISK_MODE_EXACT;
    tls.credit = tls.exact ? SAMPLE_EXACT : -1;
    if (tls.self != NULL)
        tls.self->last_block = NULL; // Calls that follow may go unseen.
}

/* Begin PHASE; what that answers to a request. */
static enum disk_answer
change_phase(const struct draw_phase *phase)
{
    uint32_t index = add_phase(phase);

    if (index == LIMIT_PHASES && (index = find_phase(phase)) == LIMIT_PHASES)
        return DISK_ANSWER_FULL;
    make_present(index);
    return DISK_ANSWER_DONE;
}

/* --- Requests --------------------------------------------------------------------------------- */

/* NAME and KIND come from a tool. */
static enum disk_answer
set_snapshot(const uint64_t *name, uint64_t kind)
{
    if (kind != DISK_SNAPSHOT_PERIOD && (kind != DISK_SNAPSHOT_ASKED || name[0] == 0))
        return DISK_ANSWER_REFUSED;
    return history_snapshot((const char *)name, (enum disk_snapshot_kind)kind);
}

static enum disk_answer
set_phase(uint64_t mode, uint64_t period)
{
    struct draw_phase phase;

    if (!draw_is_valid(mode, period))
        return DISK_ANSWER_REFUSED;
    phase = draw_phase(mode, period);
    sample.begin_ns = sample.end_ns = 0; // Whoever asks by hand does not want it changed later.
    return change_phase(&phase);
}

/* Become the one thread that changes the phase. Waits a bounded while. */
static bool
take_turn(void)
{
    for (uint32_t i = 0; i < LIMIT_GROW_WAITS; i++) {
        uint32_t idle = 0;

        if (cas_acq_rel(&state->change_busy, &idle, 1u))
            return true;
        sys_wait(i);
    }
    return false;
}

void
sample_switch(bool on)
{
    const struct draw_phase off = draw_phase(DISK_MODE_OFF, 0);
    const struct draw_phase exact = draw_phase(DISK_MODE_EXACT, 0);
    uint64_t mask = sys_block_signals();

    if (take_turn()) {
        bool is_on = sample.mode != DISK_MODE_OFF;

        sample.begin_ns = sample.end_ns = 0; // As in set_phase.
        if (on && !is_on)
            change_phase(sample.wanted.mode != DISK_MODE_OFF ? &sample.wanted : &exact);
        else if (!on && is_on)
            change_phase(&off);
        store_release(&state->change_busy, 0u);
    }
    sys_unblock_signals(mask);
    sample_adopt();
}

static void
take_request(uint64_t generation)
{
    struct disk_header *h = state->header;
    uint64_t words[countof(h->control)];
    enum disk_answer answer = DISK_ANSWER_REFUSED;

    for (size_t i = 0; i < countof(words); i++)
        words[i] = load_relaxed(&h->control[i]);
    // Another request is being written over this one: that one will be seen soon.
    if (load_acquire(&h->control_generation) != generation)
        return;
    state->control_seen = generation;
    if (words[0] == DISK_CONTROL_PHASE)
        answer = set_phase(words[1], words[2]);
    else if (words[0] == DISK_CONTROL_SNAPSHOT)
        answer = set_snapshot(&words[1], words[5]);
    store_relaxed(&h->control_answer, (uint64_t)answer);
    store_release(&h->control_taken, generation);
}

/* What delay and duration ask for at NOW. */
static void
keep_time(uint64_t now_ns)
{
    struct draw_phase off = draw_phase(DISK_MODE_OFF, 0);

    if (sample.begin_ns != 0 && now_ns >= sample.begin_ns) {
        sample.begin_ns = 0;
        change_phase(&sample.wanted);
    }
    if (sample.end_ns != 0 && now_ns >= sample.end_ns) {
        sample.end_ns = 0;
        change_phase(&off);
    }
}

static bool
is_due(uint64_t now_ns)
{
    return load_acquire(&state->header->control_generation) != state->control_seen ||
           (sample.begin_ns != 0 && now_ns >= sample.begin_ns) ||
           (sample.end_ns != 0 && now_ns >= sample.end_ns);
}

static COLD void
poll_now(uint64_t now_ns)
{
    uint64_t mask = sys_block_signals();
    uint32_t idle = 0;

    if (cas_acq_rel(&state->change_busy, &idle, 1u)) {
        uint64_t generation = load_acquire(&state->header->control_generation);

        keep_time(now_ns);
        if (generation != state->control_seen)
            take_request(generation);
        store_release(&state->change_busy, 0u);
    }
    sys_unblock_signals(mask);
    sample_adopt();
}

void
sample_poll(void)
{
    uint64_t now_ns = load_relaxed(&state->header->shared.last_ns) + state->start_ns;

    if (unlikely(is_due(now_ns)))
        poll_now(now_ns);
}

/* --- The look --------------------------------------------------------------------------------- */

/* The next sample is CHARGE away. */
static void
set_distance(int64_t charge)
{
    int64_t poll = sample.phases[tls.phase].poll;
    int64_t credit = charge < poll ? charge : poll;

    tls.reserve = charge - credit;
    tls.credit = credit;
}

static COLD void
seed(void)
{
    const char *text = host_environment("HEAPTAP_SEED");
    uint64_t word = text != NULL ? parse_uint(&text) : 0;

    if (text == NULL)
        word = arch_cycles() ^ sys_clock_ns() << 20 ^ (uint64_t)(uintptr_t)&tls ^
               (uint64_t)sys_gettid() << 40;
    else if (tls.self != NULL)
        // Threads must differ, also those that share a row one after another.
        word += hash_u64((uint64_t)tls.self->row << 32 | tls.self->disk->uses);
    tls.random = hash_u64(word) | 1;
}

static int64_t
next_distance(void)
{
    if (unlikely(tls.random == 0))
        seed();
    return draw_distance(&sample.phases[tls.phase], &tls.random);
}

/* Decide about a call for SIZE_BYTES, which has been charged already unless this thread has just
 * begun the phase. */
static enum gate
decide(uint64_t size_bytes)
{
    const struct draw_phase *p = &sample.phases[tls.phase];
    int64_t left = tls.credit + tls.reserve;

    if (p->mode == DISK_MODE_EXACT)
        return GATE_EXACT;
    if (p->mode == DISK_MODE_OFF) {
        set_distance(p->poll);
        return GATE_PASS;
    }
    if (tls.reserve < 0)
        left = next_distance() - (int64_t)draw_charge(size_bytes, p->mask);
    if (left >= 0) {
        set_distance(left);
        return GATE_PASS;
    }
    tls.sampled_phase = tls.phase;
    set_distance(next_distance());
    return GATE_SAMPLE;
}

/* From now on a second free of it would not be told from the free of another block. */
static void
forget_freed(void)
{
    if (tls.freed_block != NULL)
        filter_drop(tls.freed_block);
    tls.freed_block = NULL;
}

/* In a signal handler, or when the next allocator has called back: nothing may change now. */
static enum gate
look_nested(uint64_t size_bytes)
{
    if (tls.change == 0)
        return load_relaxed(&sample.mode) == DISK_MODE_EXACT ? GATE_EXACT : GATE_PASS;
    return decide(size_bytes);
}

/* In a process that is never recorded: nothing brings this thread here again for as good as ever,
 * and no free is looked at. */
static enum gate
pass_for_ever(void)
{
    store_relaxed(&sample.mode, (uint32_t)DISK_MODE_OFF);
    tls.credit = IDLE_CREDIT;
    return GATE_PASS;
}

COLD enum gate
sample_look(uint64_t size_bytes, uint64_t slot)
{
    uint32_t ready = state != NULL ? load_acquire(&state->ready) : (uint32_t)READY_NO;

    if (idle_here())
        return pass_for_ever();
    if (tls.busy != BUSY_NO)
        return look_nested(size_bytes);
    // The allocator behind us may have to start before we do.
    if (ready == READY_NO)
        return GATE_FIRST;
    // A process that is not recorded at all, or the child of a handler that must end its event.
    return ready == READY_OFF ? GATE_EXACT : sample_first(size_bytes, slot);
}

/* May this call be judged by the phase it was charged in? A child's threads begin anew. */
static bool
is_charged(void)
{
    return tls.change != 0 && tls.reserve >= 0 && thread_is_ready(tls.self);
}

/* A change takes effect behind the call that meets it: the point that brought the thread here was
 * drawn for the phase before. Judged by the new one, it would be lost, and with it what the
 * thread has left out since its last sample would be counted by nobody. */
COLD enum gate
sample_first(uint64_t size_bytes, uint64_t slot)
{
    enum gate gate = GATE_PASS;
    struct thread *t;
    bool charged;

    tls.entered = slot;
    tls.busy = BUSY_MONITOR;
    signal_fence();
    charged = is_charged();
    if (charged)
        gate = decide(size_bytes);
    t = enter_cold(slot);
    if (t == NULL) {
        enter_ends_cold();
        return GATE_PASS; // Lost, and counted.
    }
    sample_adopt();
    forget_freed();
    if (sample.phases[tls.phase].mode != DISK_MODE_EXACT) {
        tick_look(t);
        sample_poll();
    }
    if (!charged)
        gate = decide(size_bytes);
    tls.block_credit = tls.credit;
    enter_ends_cold();
    return gate;
}

/* --- Events of samples ------------------------------------------------------------------------ */

static void
add_double(double *sum, double value)
{
    uint64_t *bits = (uint64_t *)(void *)sum;
    uint64_t there = load_relaxed(bits), next_bits;
    double d;

    do {
        __builtin_memcpy(&d, &there, sizeof d);
        d += value;
        __builtin_memcpy(&next_bits, &d, sizeof next_bits);
    } while (!cas_acq_rel(bits, &there, next_bits));
}

static void
raise_double(double *largest, double value)
{
    uint64_t *bits = (uint64_t *)(void *)largest;
    uint64_t there = load_relaxed(bits), next_bits;
    double d;

    __builtin_memcpy(&next_bits, &value, sizeof next_bits);
    do {
        __builtin_memcpy(&d, &there, sizeof d);
        if (d >= value)
            return;
    } while (!cas_acq_rel(bits, &there, next_bits));
}

static void
add_error(struct disk_error_sum *s, const struct draw_weight *w)
{
    add_relaxed(&s->samples, UINT64_C(1));
    add_relaxed(&s->blocks, w->blocks);
    add_relaxed(&s->bytes, w->bytes);
    add_double(&s->blocks_variance, w->blocks_variance);
    add_double(&s->bytes_variance, w->bytes_variance);
}

/* The record of SITE, made if it is new; NULL without memory. */
static struct disk_error *
error_of(uint32_t site)
{
    struct table *t = &state->tables[DISK_ERRORS];
    uint32_t *place = state->errors != NULL ? &state->errors[site] : NULL;
    uint32_t known = place != NULL ? load_acquire(place) : 0;
    uint64_t made;

    if (place == NULL)
        return NULL;
    if (known == 0) {
        if ((made = table_take(t, 1)) == TABLE_NONE)
            return NULL;
        if (cas_acq_rel(place, &known, (uint32_t)made + 1)) {
            known = (uint32_t)made + 1;
            store_release(&((struct disk_error *)table_record(t, made))->site, (uint64_t)site);
        }
    }
    return table_record(t, known - 1);
}

/* As peak_save, for the errors. Two threads that do it at once leave it off by an event. */
static void
save_error(struct disk_error *e)
{
    uint64_t epoch = load_relaxed(&state->header->shared.peak_epoch);

    if (load_relaxed(&e->peak_epoch) == epoch)
        return;
    e->peak = (struct disk_error_sum){
        .samples = e->allocated.samples - e->freed.samples,
        .blocks = e->allocated.blocks - e->freed.blocks,
        .bytes = e->allocated.bytes - e->freed.bytes,
        .blocks_variance = e->allocated.blocks_variance - e->freed.blocks_variance,
        .bytes_variance = e->allocated.bytes_variance - e->freed.bytes_variance,
    };
    store_relaxed(&e->peak_epoch, epoch);
}

enum { EVENT_ALLOC, EVENT_FREE };

/* Before T's counters change: while they only rise to the peak, these are not saved either. */
static void
count_error(const struct thread *t, uint32_t site, const struct draw_weight *w, int event)
{
    struct disk_error *e = error_of(site);

    add_relaxed(&state->sampled_events, w->blocks);
    if (e == NULL)
        return;
    if (event == EVENT_FREE || !t->at_peak)
        save_error(e);
    add_error(event == EVENT_ALLOC ? &e->allocated : &e->freed, w);
    raise_double(&e->blocks_unit_max, w->blocks_unit);
    raise_double(&e->bytes_unit_max, w->bytes_unit);
}

static void
bin_sample(struct thread *t, uint64_t size_bytes, const struct draw_weight *w, int event)
{
    uint32_t range = size_bytes < DISK_EXACT_BINS ? 0 : disk_range_bin(size_bytes);

    if (size_bytes < DISK_EXACT_BINS && event == EVENT_ALLOC) {
        bump_by(&t->bins->exact[size_bytes].allocations, w->blocks);
    } else if (size_bytes < DISK_EXACT_BINS) {
        bump_by(&t->bins->exact[size_bytes].frees, w->blocks);
    } else if (event == EVENT_ALLOC) {
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
    bin_sample(t, size_bytes, w, EVENT_ALLOC);
}

/* The sample P of SIZE_BYTES begins at the present stack. NULL: no memory. */
static struct disk_counter *
sample_begins(struct thread *t, void *p, uint64_t size_bytes, struct arch_caller caller,
              struct draw_weight *ret_weight, int64_t *ret_change)
{
    const struct draw_phase *phase = &sample.phases[tls.sampled_phase];
    uint32_t site = nodes_site(state->nodes[label_here(stack_node(t, caller))].site, size_bytes);
    struct disk_counter *c = thread_counter(t, site);
    bool up = draw_rounds_up(phase, size_bytes, &tls.random);
    uint32_t how = (tls.sampled_phase + 1) << LEDGER_PHASE_SHIFT | (up ? LEDGER_ROUNDED_UP : 0);
    struct ledger_entry old;

    *ret_change = 0;
    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return NULL;
    }
    *ret_weight = draw_weight(phase, size_bytes, up);
    count_error(t, site, ret_weight, EVENT_ALLOC);
    count_sample(t, c, size_bytes, ret_weight);
    *ret_change = (int64_t)ret_weight->bytes;
    if (!ledger_insert_odd(p, size_bytes, site | how, &old))
        bump_by(&t->disk->ledger_events, ret_weight->blocks);
    if (old.site != 0)
        *ret_change += hook_settle_lost_free(t, old, p);
    sample_filter_add(p);
    t->last_block = p;
    t->last_site = site;
    return c;
}

void
sample_alloc(void *p, size_t size_bytes, struct arch_caller caller)
{
    struct thread *t = enter_cold(caller.slot);
    struct draw_weight w;
    int64_t change;

    if (t != NULL && p != NULL) {
        sample_begins(t, p, size_bytes, caller, &w, &change);
        peak_change(t, change);
    } else if (t != NULL) {
        w = draw_weight(&sample.phases[tls.sampled_phase], size_bytes, false);
        bump_by(&t->disk->failed_calls, w.blocks);
    }
    enter_ends_cold();
}

/* The weight that OLD, which comes from the ledger, had when it began. */
static struct draw_weight
weight_of(struct ledger_entry old)
{
    uint32_t phase = (old.site >> LEDGER_PHASE_SHIFT) - 1;

    return draw_weight(&sample.phases[phase < LIMIT_PHASES ? phase : 0], old.size_bytes,
                       old.site & LEDGER_ROUNDED_UP);
}

int64_t
sample_undo(struct thread *t, struct ledger_entry old, const void *p)
{
    uint32_t site = old.site & (LEDGER_ROUNDED_UP - 1);
    struct draw_weight w = weight_of(old);
    struct disk_counter *c = thread_counter(t, site);
    int64_t change = 0;

    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return 0;
    }
    if (p != t->last_block || site != t->last_site || !peak_take_back(t, c, w.bytes)) {
        peak_before_free(t, c);
        change = -(int64_t)w.bytes;
    }
    count_error(t, site, &w, EVENT_FREE);
    if (c->allocations == 0)
        store_relaxed(&c->size_min, UINT64_MAX);
    bump_by(&c->allocations, 0 - w.blocks);
    bump_by(&c->allocated_bytes, 0 - w.bytes);
    bin_sample(t, old.size_bytes, &w, EVENT_FREE);
    filter_drop(p);
    return change;
}

int64_t
sample_ends(struct thread *t, struct ledger_entry old, const void *p, bool moved)
{
    uint32_t site = old.site & (LEDGER_ROUNDED_UP - 1);
    struct disk_counter *c;
    struct draw_weight w;

    if (ledger_is_backing(old)) {
        filter_drop(p);
        return heap_backing_goes(t, old, moved);
    }
    w = weight_of(old);
    c = thread_counter(t, site);
    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return 0;
    }
    count_error(t, site, &w, EVENT_FREE);
    peak_before_free(t, c);
    bump_by(&c->frees, w.blocks);
    bump_by(&c->freed_bytes, w.bytes);
    bin_sample(t, old.size_bytes, &w, EVENT_FREE);
    if (moved) {
        bump_by(&c->moved, w.blocks);
    } else if (p == t->last_block && site == t->last_site && tls.credit == tls.block_credit) {
        bump_by(&c->temporary, w.blocks);
        t->last_block = NULL;
    }
    forget_freed();
    tls.freed_block = p;
    tls.freed_site = site;
    tls.freed_credit = tls.credit;
    return -(int64_t)w.bytes;
}

void
sample_unknown_free(struct thread *t, const void *p, uint32_t freed_site, struct arch_caller caller)
{
    if (freed_site != 0 && p == tls.freed_block && tls.credit == tls.freed_credit &&
        freed_site == tls.freed_site && !load_relaxed(&state->multi)) {
        unknown_count(t, DISK_FREE_TWICE, stack_node(t, caller), freed_site, p);
        return;
    }
    if (load_relaxed(&sample.mode) == DISK_MODE_EXACT)
        bump(&t->disk->unrecorded_frees);
    // A block that is left out may get this address next.
    if (freed_site != 0)
        ledger_forget(p);
}

COLD bool
sample_is_nothing(const void *p)
{
    uintptr_t address = (uintptr_t)p;
    const struct state *s = state;
    const uint32_t *leaf;

    if (unlikely(idle_here()))
        return true;
    // A child that has not started yet sees no ledger. Other blocks than malloc's may be there.
    if (s->ledger == NULL || address & 15 || address >> ARCH_ADDRESS_BITS || apart_is_used())
        return false;
    leaf = load_acquire(&s->ledger[address >> LEDGER_SPAN_BITS]);
    return leaf == NULL ||
           load_relaxed(
               &leaf[(address & (((uintptr_t)1 << LEDGER_SPAN_BITS) - 1)) >> s->granule_shift]) ==
               0;
}

uint64_t
sample_usable(const void *p)
{
    return p != NULL && state->usable != USABLE_NONE ? next.malloc_usable_size((void *)(uintptr_t)p)
                                                     : 0;
}

void
sample_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                   enum gate gate, struct arch_caller caller)
{
    struct thread *t = enter_cold(caller.slot);
    int64_t change = 0, left = 0;
    struct disk_counter *c = NULL;
    struct draw_weight w;

    if (t != NULL && !ok) {
        bump(&t->disk->failed_calls);
        hook_keep_again(t, p, old);
    } else if (t != NULL) {
        if (old.site != 0)
            left = hook_block_moves(t, old, p, result != NULL);
        if (result != NULL)
            forget_freed(); // It may live on in the same place.
        t->last_block = NULL;
        if (gate == GATE_SAMPLE && result != NULL)
            c = sample_begins(t, result, size_bytes, caller, &w, &change);
        if (c != NULL) {
            bump_by(&c->reallocations, w.blocks);
            if (old.size_bytes != 0 && size_bytes > old.size_bytes)
                bump_by(&c->grown_bytes, w.blocks * (size_bytes - old.size_bytes));
        }
        peak_change(t, change + left);
    }
    enter_ends_cold();
}

/* budget.c: keeps the recorder's cost below a share of the program's processor time.
 *
 *     events × EVENT_CYCLES ─────────────┐
 *     walks of stacks, timed one by one ─┼─► level ─► mode_change
 *     processor time of the process ─────┘
 *
 * With --max-overhead recording begins exactly. At ticks, at most every DECIDE_NS, the cost since
 * the previous decision is compared with the limit, and a level is chosen: exact, or one in 16, 64,
 * 256, 1,024 or 4,096 allocations with its callers. A level changes only the share of whole stacks,
 * so sites stay exact, and estimates are correct for any sequence of levels (callers.c).
 *
 * An event that finds its stack in a table costs about the same in all programs, so a constant
 * represents it. It cannot be timed: reading the counter would cost as much. And the events of
 * ticks (tick.c) execute code that is not in the cache, so they take up to ten times as long. All
 * other events are timed in stack.c, and with short stacks in callers.c. So the cost of another
 * share can be predicted, and a larger share that is predicted to cost more than three quarters of
 * the limit is not tried. If it was too much after all, the next attempt waits twice as long. A
 * cost above the limit over the whole run halves the limit until the excess is made up for.
 *
 * Each event is still counted at its site. If that alone costs more than the limit, the limit is
 * missed, and the profile has the cost. The share of whole stacks then falls only until they cost a
 * sixteenth of the limit, because callers are worth more than the rest of their cost. The cost
 * excludes the recorder's start, its end and ticks. All arithmetic uses integers. */
#include "event/budget.h"

#include "account/account_state.h"
#include "base/atomics.h"
#include "event/guarded_draw.h"
#include "event/mode.h"
#include "format/environment.h"
#include "platform/host.h"
#include "platform/sys.h"
#include "stack/stack_state.h"

struct budget budget;

static const uint32_t levels[] = {0, 16, 64, 256, 1024, 4096};
enum { LEVEL_MAX = countof(levels) - 1 };

#define MS UINT64_C(1000000)
#define DECIDE_NS (10 * MS) // Between two decisions.
#define WORK_NS (5 * MS)    // Processor time of a decision.

/* EVENT_CYCLES is the cost of an event without a walk. It is 60 to 110 cycles in programs that
 * mainly allocate (internals/callers.md). */
enum { WAIT_MAX = 64, EVENT_CYCLES = 100 };

/* In thousandths of a percent. */
#define WHOLE UINT64_C(100000)
#define LIMIT_MAX (100 * WHOLE)

uint32_t
budget_period(uint32_t level)
{
    return levels[level <= LEVEL_MAX ? level : LEVEL_MAX];
}

void
budget_start(void)
{
    uint64_t limit = host_number(ENVIRONMENT_MAX_OVERHEAD);

    if (limit == 0 || limit > LIMIT_MAX)
        return;
    if (budget.limit == 0)
        budget.decides = true;
    budget.limit = limit;
    state->header->overhead_limit = limit;
}

void
budget_leave(void)
{
    budget.decides = false;
}

void
budget_add(struct thread *t)
{
    add_relaxed(&budget.whole_cycles, t->whole_cycles);
    t->whole_cycles = 0;
}

/* Return OWN_NS in thousandths of a percent of PROGRAM_NS. */
static uint64_t
cost_of(uint64_t own_ns, uint64_t program_ns)
{
    if (own_ns == 0)
        return 0;
    if (program_ns == 0 || own_ns > UINT64_MAX / WHOLE)
        return LIMIT_MAX;
    return own_ns * WHOLE / program_ns;
}

/* Return the time for whole stacks at LEVEL, when W was measured at B's level, not 0. Exact
 * recording reuses stacks, so its former cost may be lower than the product. */
static uint64_t
whole_ns(const struct budget *b, const struct budget_window *w, uint32_t level)
{
    uint64_t product = w->whole_ns * levels[b->level] / (levels[level] != 0 ? levels[level] : 1);
    uint64_t former = w->events * b->exact_ns / 1024;

    return level == 0 && former < product ? former : product;
}

/* Return the cost of LEVEL, when W was measured at B's level, not 0. */
static uint64_t
predicted(const struct budget *b, const struct budget_window *w, uint32_t level)
{
    uint64_t fixed = w->own_ns > w->whole_ns ? w->own_ns - w->whole_ns : 0;

    return cost_of(fixed + whole_ns(b, w, level), w->program_ns);
}

uint32_t
budget_level(const struct budget *b, const struct budget_window *w)
{
    uint64_t target = cost_of(b->own_ns, b->program_ns) > b->limit ? b->limit / 2 : b->limit;
    uint64_t cost = cost_of(w->own_ns, w->program_ns);
    uint32_t level = b->level;

    if (cost > target) {
        if (level == 0) // The part of whole stacks is not known yet.
            return cost > 4 * target ? 2 : 1;
        while (level < LEVEL_MAX && predicted(b, w, level) > target &&
               cost_of(whole_ns(b, w, level), w->program_ns) > target / 16)
            level++;
        return level;
    }
    if (level > 0 && b->wait == 0 && predicted(b, w, level - 1) <= target / 4 * 3)
        level--;
    return level;
}

/* Convert CYCLES. */
static uint64_t
budget_ns(uint64_t cycles)
{
    const struct disk_header *h = state->header;
    uint64_t clock_ns = load_relaxed(&h->last_cycles_ns) - h->start_monotonic_ns;
    uint64_t clock_cycles = load_relaxed(&h->last_cycles) - h->start_cycles;
    uint64_t rate = clock_ns > 0 ? (clock_cycles << 10) / clock_ns : 0; // Per 1,024 ns.

    return rate > 0 ? (cycles << 10) / rate : 0;
}

/* The sums of another process, before fork, do not count. */
static void
budget_begin_process(void)
{
    const struct budget b = {.limit = budget.limit,
                             .decides = budget.decides,
                             .level = budget.level,
                             .start_ns = state->start_ns};

    budget = b;
    state->header->overhead_limit = budget.limit;
    stack_state()->timed = 1;
}

/* Divide PASSED_NS between the recorder and the program. The estimates OWN_NS and WHOLE_NS may
 * exceed PASSED_NS. */
static struct budget_window
window_of(uint64_t passed_ns, uint64_t own_ns, uint64_t whole_ns)
{
    struct budget_window w = {.own_ns = own_ns > whole_ns ? own_ns : whole_ns};

    if (w.own_ns > passed_ns - passed_ns / 16)
        w.own_ns = passed_ns - passed_ns / 16;
    w.whole_ns = whole_ns < w.own_ns ? whole_ns : w.own_ns;
    w.program_ns = passed_ns - w.own_ns;
    return w;
}

/* Measure the costs since the previous decision. Return false if it is too early; if LAST, it never
 * is. */
static bool
budget_measure(struct budget_window *w, bool last)
{
    uint64_t events = load_relaxed(&account_state()->ticked_events) - budget.events_before;
    uint64_t whole = load_relaxed(&budget.whole_cycles) - budget.whole_cycles_before;
    uint64_t work_ns = sys_process_work_ns(), passed_ns = work_ns - budget.work_before;

    if (work_ns < budget.work_before || (!last && passed_ns < WORK_NS))
        return false;
    *w = window_of(passed_ns, budget_ns(events * EVENT_CYCLES + whole), budget_ns(whole));
    w->events = events;
    if (budget.level == 0 && events > 0)
        budget.exact_ns = w->whole_ns * 1024 / events;
    budget.events_before += events;
    budget.whole_cycles_before += whole;
    budget.work_before = work_ns;
    budget.own_ns += w->own_ns;
    budget.program_ns += w->program_ns;
    state->header->overhead_ns = budget.own_ns;
    state->header->overhead_program_ns = budget.program_ns;
    return true;
}

/* Change to LEVEL. */
static void
budget_choose(uint32_t level)
{
    const struct draw_mode exact = guarded_draw_mode(DISK_MODE_EXACT, 0);
    uint32_t callers;

    if (level > budget.level) {
        budget.backoff = budget.backoff < WAIT_MAX ? 2 * budget.backoff + 1 : WAIT_MAX;
        budget.wait = budget.backoff;
    } else if (budget.wait > 0) {
        budget.wait--;
    }
    if (level == budget.level)
        return;
    budget.level = level;
    if (!mode_callers(levels[level], &callers) || mode_change(&exact, callers) != DISK_ANSWER_DONE)
        budget.decides = false;
}

void
budget_decide(uint64_t now_ns)
{
    struct budget_window w;

    if (budget.start_ns != state->start_ns)
        budget_begin_process();
    store_relaxed(&budget.next_ns, now_ns + DECIDE_NS);
    if (budget_measure(&w, false) && budget.decides &&
        load_relaxed(&sample.mode) == DISK_MODE_EXACT)
        budget_choose(budget_level(&budget, &w));
}

void
budget_end(void)
{
    struct budget_window w;

    if (budget.limit != 0 && budget.start_ns == state->start_ns)
        budget_measure(&w, true);
}

/* request.c: changes recording while the program runs. The requests come from a tool, through words
 * in the profile; from the program itself; or from the clock (delay and duration).
 *
 * Other processes can write to the profile, so its words are untrusted: mode and period are
 * checked, and a name may consist of any bytes. */
#include "event/request.h"

#include "access/counted_blocks.h"
#include "account/history.h"
#include "base/atomics.h"
#include "event/budget.h"
#include "event/event_state.h"
#include "event/guarded_draw.h"
#include "event/mode.h"
#include "platform/state.h"
#include "platform/sys.h"

/* Take a snapshot for a tool, which has set NAME and KIND. */
static enum disk_answer
set_snapshot(const uint64_t *name, uint64_t kind)
{
    if (kind != DISK_SNAPSHOT_PERIOD && (kind != DISK_SNAPSHOT_ASKED || name[0] == 0))
        return DISK_ANSWER_REFUSED;
    return kind == DISK_SNAPSHOT_PERIOD
               ? history_periodic((const char *)name)
               : history_snapshot((const char *)name, (enum disk_snapshot_kind)kind);
}

static enum disk_answer
set_mode(uint64_t mode, uint64_t period)
{
    struct draw_mode chosen;

    if (!draw_is_valid(mode, period))
        return DISK_ANSWER_REFUSED;
    chosen = guarded_draw_mode(mode, period);
    sample.begin_ns = sample.end_ns = 0; // Cancel the delay and duration, which must not undo an
                                         // explicit change.
    budget_leave();
    return mode_change(&chosen, 0);
}

/* Record everything, with the callers of one allocation in PERIOD. */
static enum disk_answer
set_callers(uint64_t period)
{
    const struct draw_mode exact = guarded_draw_mode(DISK_MODE_EXACT, 0);
    uint32_t callers;

    if (!mode_callers(period == 1 ? 0 : period, &callers))
        return period <= DISK_CALLERS_PERIOD_MAX ? DISK_ANSWER_FULL : DISK_ANSWER_REFUSED;
    sample.begin_ns = sample.end_ns = 0;
    budget_leave();
    return mode_change(&exact, callers);
}

/* Acquire the exclusive right to change the recording mode. Return false after a bounded wait. */
static bool
request_take_turn(void)
{
    for (uint32_t i = 0; i < LIMIT_GROW_WAITS; i++) {
        uint32_t idle = 0;

        if (cas_acq_rel(&event_state()->change_busy, &idle, 1u))
            return true;
        sys_wait(i);
    }
    return false;
}

void
request_switch(bool on)
{
    const struct draw_mode off = guarded_draw_mode(DISK_MODE_OFF, 0);
    const struct draw_mode exact = guarded_draw_mode(DISK_MODE_EXACT, 0);
    uint64_t mask = sys_block_signals();

    if (request_take_turn()) {
        bool is_on = sample.mode != DISK_MODE_OFF;

        sample.begin_ns = sample.end_ns = 0; // Cancel the delay and duration, as in set_mode.
        if (on && !is_on)
            mode_change(sample.wanted.mode != DISK_MODE_OFF ? &sample.wanted : &exact,
                        sample.wanted_callers);
        else if (!on && is_on)
            mode_change(&off, 0);
        store_release(&event_state()->change_busy, 0u);
    }
    sys_unblock_signals(mask);
    mode_adopt();
}

static void
take_request(uint64_t generation)
{
    struct disk_header *h = state->header;
    uint64_t words[countof(h->control)];
    enum disk_answer answer = DISK_ANSWER_REFUSED;

    for (size_t i = 0; i < countof(words); i++)
        words[i] = load_relaxed(&h->control[i]);
    // If another request is being written over this one, leave both to a later poll.
    if (load_acquire(&h->control_generation) != generation)
        return;
    event_state()->control_seen = generation;
    if (words[0] == DISK_CONTROL_PHASE)
        answer = set_mode(words[1], words[2]);
    else if (words[0] == DISK_CONTROL_SNAPSHOT)
        answer = set_snapshot(&words[1], words[5]);
    else if (words[0] == DISK_CONTROL_CALLERS)
        answer = set_callers(words[1]);
    else if (words[0] == DISK_CONTROL_ACCESS)
        answer = access_request(words[1]) ? DISK_ANSWER_DONE : DISK_ANSWER_REFUSED;
    store_relaxed(&h->control_answer, (uint64_t)answer);
    store_release(&h->control_taken, generation);
}

/* Apply delay and duration at time NOW_NS. */
static void
keep_time(uint64_t now_ns)
{
    struct draw_mode off = guarded_draw_mode(DISK_MODE_OFF, 0);

    if (sample.begin_ns != 0 && now_ns >= sample.begin_ns) {
        sample.begin_ns = 0;
        mode_change(&sample.wanted, sample.wanted_callers);
    }
    if (sample.end_ns != 0 && now_ns >= sample.end_ns) {
        sample.end_ns = 0;
        mode_change(&off, 0);
    }
}

static bool
is_due(uint64_t now_ns)
{
    return load_acquire(&state->header->control_generation) != event_state()->control_seen ||
           (sample.begin_ns != 0 && now_ns >= sample.begin_ns) || budget_is_due(now_ns) ||
           (sample.end_ns != 0 && now_ns >= sample.end_ns);
}

static COLD void
poll_now(uint64_t now_ns)
{
    uint64_t mask = sys_block_signals();
    uint32_t idle = 0;

    if (cas_acq_rel(&event_state()->change_busy, &idle, 1u)) {
        uint64_t generation = load_acquire(&state->header->control_generation);

        keep_time(now_ns);
        if (generation != event_state()->control_seen)
            take_request(generation);
        if (budget_is_due(now_ns))
            budget_decide(now_ns);
        store_release(&event_state()->change_busy, 0u);
    }
    sys_unblock_signals(mask);
    mode_adopt();
}

void
request_poll(void)
{
    uint64_t now_ns = load_relaxed(&state->header->shared.last_ns) + state->start_ns;

    if (unlikely(is_due(now_ns)))
        poll_now(now_ns);
}

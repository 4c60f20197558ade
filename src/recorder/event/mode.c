/* mode.c: changes the recording mode and stores the sequence of modes.
 *
 * A recording mode is exact, sampled or off, and is in force until the next change. A sample's
 * entry in the ledger has the number of its mode. So its free subtracts exactly the amounts that
 * its allocation added, even if another mode is in force by then. A thread adopts a new mode at its
 * next refill at the gate, or at its next event in exact mode. */
#include "event/mode.h"

#include "account/account_state.h"
#include "account/file.h"
#include "account/recent.h"
#include "account/thread.h"
#include "annotation/annotation_form.h"
#include "base/atomics.h"
#include "event/event_state.h"
#include "event/filter.h"
#include "event/guarded_draw.h"
#include "format/environment.h"
#include "format/format.h"
#include "ledger/ledger_entry.h"
#include "platform/host.h"
#include "platform/mem.h"
#include "platform/sys.h"
#include "platform/unrecorded.h"

struct sample sample;

#define NS_PER_MS UINT64_C(1000000)

static_assert(LIMIT_MODES < 1 << (32 - LEDGER_MODE_SHIFT), "a way fits into an entry");

/* Read the user's choice from the environment. A program started by exec in a forked child reads it
 * again, so its delay and duration start again. */
static void
mode_learn(void)
{
    uint64_t bytes = host_number(ENVIRONMENT_SAMPLE), calls = host_number(ENVIRONMENT_SAMPLE_COUNT);
    uint64_t delay_ms = host_number(ENVIRONMENT_DELAY);
    uint64_t duration_ms = host_number(ENVIRONMENT_DURATION);
    uint64_t callers = host_number(ENVIRONMENT_CALLERS);

    sample.wanted = guarded_draw_mode(DISK_MODE_EXACT, 0);
    if (draw_is_valid(DISK_MODE_BYTES, bytes))
        sample.wanted = guarded_draw_mode(DISK_MODE_BYTES, bytes);
    else if (draw_is_valid(DISK_MODE_COUNT, calls))
        sample.wanted = guarded_draw_mode(DISK_MODE_COUNT, calls);
    if (delay_ms != 0)
        sample.begin_ns = sys_clock_ns() + delay_ms * NS_PER_MS;
    if (duration_ms != 0)
        sample.end_ns = sys_clock_ns() + (delay_ms + duration_ms) * NS_PER_MS;
    sample.modes[0] = delay_ms != 0 ? guarded_draw_mode(DISK_MODE_OFF, 0) : sample.wanted;
    if (sample.wanted.mode == DISK_MODE_EXACT)
        mode_callers(callers, &sample.wanted_callers);
    if (delay_ms == 0)
        sample.callers_of[0] = (uint8_t)sample.wanted_callers;
    sample.known = true;
}

bool
mode_callers(uint64_t period, uint32_t *ret_callers)
{
    uint32_t count = sample.callers_count + (sample.callers_count == 0), i = 0;

    if (period != 0 && (period < DISK_SAMPLE_COUNT_MIN || period > DISK_CALLERS_PERIOD_MAX))
        return false;
    while (i < count && sample.callers[i].period != period)
        i++;
    if (i == countof(sample.callers))
        return false;
    if (i == count) {
        sample.callers[i] = guarded_draw_mode(DISK_MODE_COUNT, period);
        count++;
    }
    sample.callers_count = count;
    *ret_callers = i;
    return true;
}

static struct disk_phase *
mode_record(uint32_t index)
{
    return table_record(&state->tables[DISK_PHASES], index);
}

/* Add a mode to the profile. Return its index, or LIMIT_MODES if there is no room. */
static uint32_t
mode_add_mode(const struct draw_mode *mode, uint32_t callers)
{
    struct table *t = &state->tables[DISK_PHASES];
    struct disk_phase *r;
    uint64_t index;

    if (t->used >= LIMIT_MODES || (index = table_take(t, 1)) == TABLE_NONE)
        return LIMIT_MODES;
    r = mode_record((uint32_t)index);
    r->mode = mode->mode;
    r->period = mode->period;
    r->callers_period = sample.callers[callers].period;
    r->since_ns = sys_clock_ns() - state->start_ns;
    store_release(&r->id, (uint32_t)index + 1);
    sample.modes[index] = *mode;
    sample.callers_of[index] = (uint8_t)callers;
    return (uint32_t)index;
}

/* Return the index of an earlier mode equal to MODE with CALLERS, or LIMIT_MODES if there is
 * none. */
static uint32_t
find_mode(const struct draw_mode *mode, uint32_t callers)
{
    for (uint32_t i = 0; i < state->tables[DISK_PHASES].used; i++)
        if (sample.modes[i].mode == mode->mode && sample.modes[i].period == mode->period &&
            sample.callers_of[i] == callers)
            return i;
    return LIMIT_MODES;
}

static void
make_present(uint32_t index)
{
    const struct draw_mode *p = &sample.modes[index];
    uint64_t callers_period = sample.callers[sample.callers_of[index]].period;

    if (callers_period > state->header->callers_period)
        state->header->callers_period = callers_period;
    if (p->mode != DISK_MODE_EXACT && sample.mode == DISK_MODE_EXACT && state->ready == READY_YES)
        filter_fill();
    state->header->sample_period_bytes = p->mode == DISK_MODE_BYTES ? p->period : 0;
    if (p->mode != DISK_MODE_EXACT)
        store_relaxed(&event_state()->gaps, 1u);
    store_relaxed(&sample.present, index);
    store_relaxed(&sample.mode, p->mode);
    // Increment `change` last: this publishes the stores above. Paired with mode_adopt.
    store_release(&sample.change, sample.change + 1);
    thread_invalidate_all();
}

void
mode_start(void)
{
    if (!sample.known) {
        mode_learn();
    } else {
        sample.modes[0] = sample.modes[sample.present];
        sample.callers_of[0] = sample.callers_of[sample.present];
    }
    account_state()->errors =
        mem_private(sizeof *account_state()->errors * (size_t)(LIMIT_SITES + 1));
    account_state()->errors_count = account_state()->errors != NULL ? LIMIT_SITES + 1 : 0;
    mode_add_mode(&sample.modes[0], sample.callers_of[0]);
    make_present(0);
}

void
mode_adopt(void)
{
    uint32_t change = load_acquire(&sample.change);
    uint32_t index = load_relaxed(&sample.present);
    const struct draw_mode *p = &sample.modes[index];
    bool goes_on = tls.change != 0 && tls.exact;

    if (likely(change == tls.change))
        return;
    tls.change = change;
    tls.mode = index;
    tls.charge_mask = p->mask;
    tls.reserve = -1; // Negative: the distance to the next sample is not drawn yet.
    tls.exact = p->mode == DISK_MODE_EXACT && !annotation_is_on() &&
                likely(load_relaxed(&unrecorded_front_is_silent) == 0);
    tls.credit = p->mode == DISK_MODE_EXACT ? MODE_EXACT_CREDIT : -1;
    // Later calls may be left unrecorded, so births cannot be compared. If only the choice of
    // callers has changed, all are recorded.
    if (tls.self != NULL && !(goes_on && tls.exact))
        recent_clear(tls.self);
}

enum disk_answer
mode_change(const struct draw_mode *mode, uint32_t callers)
{
    uint32_t index = mode_add_mode(mode, callers);

    if (index == LIMIT_MODES && (index = find_mode(mode, callers)) == LIMIT_MODES)
        return DISK_ANSWER_FULL;
    make_present(index);
    return DISK_ANSWER_DONE;
}

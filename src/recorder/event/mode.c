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
    if (sample.wanted.mode == DISK_MODE_EXACT && callers >= DISK_SAMPLE_COUNT_MIN &&
        callers <= DISK_CALLERS_PERIOD_MAX)
        sample.callers = guarded_draw_mode(DISK_MODE_COUNT, callers);
    sample.known = true;
}

static struct disk_phase *
mode_record(uint32_t index)
{
    return table_record(&state->tables[DISK_PHASES], index);
}

/* Add a mode to the profile. Return its index, or LIMIT_MODES if there is no room. */
static uint32_t
mode_add_mode(const struct draw_mode *mode)
{
    struct table *t = &state->tables[DISK_PHASES];
    struct disk_phase *r;
    uint64_t index;

    if (t->used >= LIMIT_MODES || (index = table_take(t, 1)) == TABLE_NONE)
        return LIMIT_MODES;
    r = mode_record((uint32_t)index);
    r->mode = mode->mode;
    r->period = mode->period;
    r->since_ns = sys_clock_ns() - state->start_ns;
    store_release(&r->id, (uint32_t)index + 1);
    sample.modes[index] = *mode;
    return (uint32_t)index;
}

/* Return the index of an earlier mode equal to MODE, or LIMIT_MODES if there is none. */
static uint32_t
find_mode(const struct draw_mode *mode)
{
    for (uint32_t i = 0; i < state->tables[DISK_PHASES].used; i++)
        if (sample.modes[i].mode == mode->mode && sample.modes[i].period == mode->period)
            return i;
    return LIMIT_MODES;
}

static void
make_present(uint32_t index)
{
    const struct draw_mode *p = &sample.modes[index];

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
    if (!sample.known)
        mode_learn();
    else
        sample.modes[0] = sample.modes[sample.present];
    account_state()->errors =
        mem_private(sizeof *account_state()->errors * (size_t)(LIMIT_SITES + 1));
    account_state()->errors_count = account_state()->errors != NULL ? LIMIT_SITES + 1 : 0;
    mode_add_mode(&sample.modes[0]);
    state->header->callers_period = sample.callers.period;
    make_present(0);
}

void
mode_adopt(void)
{
    uint32_t change = load_acquire(&sample.change);
    uint32_t index = load_relaxed(&sample.present);
    const struct draw_mode *p = &sample.modes[index];

    if (likely(change == tls.change))
        return;
    tls.change = change;
    tls.mode = index;
    tls.charge_mask = p->mask;
    tls.reserve = -1; // Negative: the distance to the next sample is not drawn yet.
    tls.exact = p->mode == DISK_MODE_EXACT && !annotation_is_on();
    tls.credit = p->mode == DISK_MODE_EXACT ? MODE_EXACT_CREDIT : -1;
    if (tls.self != NULL)
        recent_clear(tls.self); // Later calls may be left unrecorded, so births cannot be compared.
}

enum disk_answer
mode_change(const struct draw_mode *mode)
{
    uint32_t index = mode_add_mode(mode);

    if (index == LIMIT_MODES && (index = find_mode(mode)) == LIMIT_MODES)
        return DISK_ANSWER_FULL;
    make_present(index);
    return DISK_ANSWER_DONE;
}

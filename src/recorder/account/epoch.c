/* epoch.c: raises the epoch, a number that never falls. A counter compares its own epoch with the
 * current one, and so detects that it has not changed since a peak of live bytes or a snapshot.
 * Before the epoch rises, the reason is announced: the header's peak_epoch or snapshot_epoch gets
 * the epoch's next value. A thread that sees the new epoch therefore also sees its reason. Threads
 * may raise the epoch concurrently, and a signal handler may interrupt a raise. peak.h describes
 * how a counter reacts to a new epoch. */
#include "account/history.h"

#include "base/atomics.h"
#include "platform/state.h"

static void
epoch_raise_to(uint64_t *word, uint64_t value)
{
    uint64_t current = load_relaxed(word);

    while (current < value && !cas_acq_rel(word, &current, value))
        continue;
}

/* Raise the epoch by one. Another thread may raise the epoch for another reason at the same time
 * and publish the value announced here. The loop then announces the next value, and some counters
 * save their values twice. */
void
epoch_raise(uint64_t *announced)
{
    uint64_t *epoch = &state->header->shared.epoch;
    uint64_t present = load_relaxed(epoch);

    do
        epoch_raise_to(announced, present + 1);
    while (!cas_acq_rel(epoch, &present, present + 1));
}

COLD void
epoch_finish_raise(void)
{
    struct disk_shared *s = &state->header->shared;

    epoch_raise_to(&s->epoch, load_relaxed(&s->peak_epoch));
}

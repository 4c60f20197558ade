/* epoch.c: the epoch, a number that only rises. With it a counter detects that it has not changed
 * since a peak of live bytes or a snapshot. The reason for a rise is announced first: the header's
 * peak_epoch or snapshot_epoch gets the epoch's next value, so a thread that sees the new epoch
 * also sees its reason. Threads may raise the epoch concurrently, and a signal handler may run in
 * between. peak.h describes the work of a counter when the epoch has risen. */
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

/* Raise the epoch by one. If another thread raises it for another reason at the same time, that
 * thread publishes the announced value. The loop then announces the next value, and some counters
 * repeat their work once. */
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

/* epoch.c: the epoch, by which a counter tells whether it has changed since a maximum of live bytes
 * or a snapshot. It only rises. What it rises for is announced first: the header's peak_epoch or
 * snapshot_epoch gets the number that the epoch is about to have, so who sees the new epoch knows
 * what it is for. Any number of threads may raise it at once, and a signal handler may come in
 * between. See peak.h for what counters do when it has risen.
 */
#include "account/epoch.h"

#include "base/atomics.h"
#include "platform/state.h"

static void
raise_to(uint64_t *word, uint64_t value)
{
    uint64_t there = load_relaxed(word);

    while (there < value && !cas_acq_rel(word, &there, value))
        continue;
}

/* Who raises it at the same time for something else takes this one, and the next is announced: then
 * some counters do the same once more. */
void
epoch_raise(uint64_t *announced)
{
    uint64_t *epoch = &state->header->shared.epoch;
    uint64_t present = load_relaxed(epoch);

    do
        raise_to(announced, present + 1);
    while (!cas_acq_rel(epoch, &present, present + 1));
}

COLD void
epoch_finish_raise(void)
{
    struct disk_shared *s = &state->header->shared;

    raise_to(&s->epoch, load_relaxed(&s->peak_epoch));
}

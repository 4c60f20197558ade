/* peak.c: the slow parts of peak.h. */
#include "monitor/peak.h"

void
peak_share_slack(void)
{
    int64_t peak = load_relaxed(&state->header->shared.peak_bytes);
    int64_t error = peak / 1024 > LIMIT_PEAK_ERROR_BYTES ? peak / 1024 : LIMIT_PEAK_ERROR_BYTES;

    // Half of the error is for what threads keep back at the peak, half for what they kept back
    // before.
    store_relaxed(&state->slack_bytes,
                  error / 2 / (int64_t)(load_relaxed(&state->live_threads) + 1));
}

void
peak_flush(struct thread *t)
{
    struct disk_shared *s = &state->header->shared;
    int64_t live = add_relaxed(&s->flushed_bytes, t->pending_bytes) + t->pending_bytes;
    int64_t peak = load_relaxed(&s->peak_bytes);

    t->pending_bytes = 0;
    while (live > peak) {
        if (!cas_acq_rel(&s->peak_bytes, &peak, live))
            continue;
        add_relaxed(&s->peak_epoch, UINT64_C(1));
        break;
    }
    peak_share_slack();
}

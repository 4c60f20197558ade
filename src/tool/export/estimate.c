/* estimate.c: note about estimates in files for other tools.
 *
 * The formats have no place for errors. Those with comments or captions get one sentence: that not
 * everything was recorded, and the ranges of the totals. `heaptap report` also shows the ranges of
 * single stacks. */
#include "export/exporter.h"

#include <inttypes.h>

#include "analyse/interval.h"

const char *
export_estimate(const struct profile *p, const struct stacks *stacks, struct arena *arena)
{
    struct interval allocated, live;

    if (!profile_is_estimate(p))
        return "";
    if (!profile_has_errors(p))
        return "Estimates; error bounds exist for the whole run only";
    allocated = interval_of(&stacks->total, &stacks->errors, INTERVAL_ALLOCATED_BYTES);
    live = interval_of(&stacks->total, &stacks->errors, INTERVAL_LIVE_BYTES);
    return arena_printf(arena,
                        "Estimates from %.0f samples; in 95 of 100 cases %" PRId64 " to %" PRId64
                        " bytes allocated, %" PRId64 " to %" PRId64 " live",
                        stacks->errors.allocated.samples, interval_rounded(allocated.low),
                        interval_rounded(allocated.high), interval_rounded(live.low),
                        interval_rounded(live.high));
}

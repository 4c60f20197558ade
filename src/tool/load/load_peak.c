/* load_peak.c: the place of the peak among the snapshots.
 *
 *     snapshots        1          2            3
 *     time         ────┼──────────┼────────────┼────►
 *     peak's time    ±±±±±±±±±±±±±±±                   in one tick of the clock
 *
 * The time of the peak has the resolution of a tick, and the file does not contain the order of the
 * peak and the snapshots of that tick. The counters do: between two snapshots each site must have
 * allocated what it holds at the peak beyond the first of them. The interval that lacks the fewest
 * bytes has the peak.
 *
 * Views compare times. So the peak gets a time behind the snapshot before it, and the snapshots
 * behind it get later times, each by a nanosecond if necessary. */
#include "load/loader.h"

#define TICK_NS (UINT64_C(10) * 1000 * 1000) // The longest tick of a kernel.

enum { INTERVALS_MAX = 64 }; // Maximum number of intervals to examine.

/* The amounts of a site around an interval. */
struct around {
    int64_t before, change, allocated_bytes;
};

static int64_t
not_negative(int64_t x)
{
    return x > 0 ? x : 0;
}

/* Return the number of bytes whose allocation INTERVAL lacks if the peak is there. SITES is scratch
 * space by site. */
static int64_t
missing_in(const struct profile *p, size_t interval, struct around *sites)
{
    int64_t missing = 0;

    for (size_t i = 0; i < p->site_count; i++)
        sites[i] = (struct around){0};
    for (size_t i = 0; i < p->change_count; i++) {
        const struct profile_change *c = &p->changes[i];
        struct around *a = &sites[p->thread_sites[c->thread_site].site];
        int64_t live = profile_amounts_live(&c->amounts);

        if (c->interval < interval)
            a->before = counters_sum(a->before, live);
        if (c->interval != interval)
            continue;
        a->change = counters_sum(a->change, live);
        a->allocated_bytes = counters_sum(a->allocated_bytes, c->amounts.allocated_bytes);
    }
    for (size_t i = 0; i < p->site_count; i++) {
        int64_t before = not_negative(sites[i].before);
        int64_t after = not_negative(counters_sum(before, sites[i].change));
        int64_t peak = not_negative(p->sites[i].counters.peak_bytes);
        int64_t needed = counters_sum(not_negative(peak - before), not_negative(after - peak));

        missing = counters_sum(missing, not_negative(counters_difference(
                                            needed, sites[i].allocated_bytes)));
    }
    return missing;
}

/* Return the number of snapshots before the peak. */
static size_t
snapshots_before_peak(const struct profile *p, struct arena *arena)
{
    struct around *sites = arena_array(arena, p->site_count, sizeof *sites);
    uint64_t peak_ns = p->peak_elapsed_ns;
    size_t best = 0, first, examined = 0;
    int64_t least;

    while (best < p->snapshot_count && p->snapshots[best].elapsed_ns < peak_ns)
        best++;
    least = missing_in(p, best, sites);
    for (first = best; first > 0 && best - first < INTERVALS_MAX / 2 &&
                       p->snapshots[first - 1].elapsed_ns + TICK_NS >= peak_ns;)
        first--;
    for (size_t i = first; least > 0 && i <= p->snapshot_count && examined < INTERVALS_MAX;
         i++, examined++) {
        int64_t missing;

        if (i > 0 && p->snapshots[i - 1].elapsed_ns > peak_ns + TICK_NS)
            break;
        missing = missing_in(p, i, sites);
        if (missing < least) {
            least = missing;
            best = i;
        }
    }
    return best;
}

void
load_peak(struct profile *p)
{
    struct arena scratch = {0};
    size_t before;
    uint64_t after_ns;

    if (!p->has_history || p->snapshot_count == 0 || p->peak_elapsed_ns == 0)
        return;
    before = snapshots_before_peak(p, &scratch);
    arena_release(&scratch);
    if (before > 0 && p->peak_elapsed_ns <= p->snapshots[before - 1].elapsed_ns)
        p->peak_elapsed_ns = p->snapshots[before - 1].elapsed_ns + 1;
    if (before < p->snapshot_count && p->peak_elapsed_ns > p->snapshots[before].elapsed_ns &&
        (before == 0 || p->snapshots[before - 1].elapsed_ns + 1 < p->snapshots[before].elapsed_ns))
        p->peak_elapsed_ns = p->snapshots[before].elapsed_ns - 1;
    after_ns = p->peak_elapsed_ns + 1;
    for (size_t i = before; i < p->snapshot_count && p->snapshots[i].elapsed_ns < after_ns; i++)
        p->snapshots[i].elapsed_ns = after_ns;
}

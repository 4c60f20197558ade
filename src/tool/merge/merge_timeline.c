/* merge_timeline.c: live bytes of all processes together, over time.
 *
 * The live bytes of a process are constant from one point to the next, and zero after its end. A
 * timeline is therefore a series of changes, and the sum of timelines consists of all their
 * changes, sorted. The common clock is each host's wall clock.
 *
 *     process 1   +3 ······ +1 ·········· -4
 *     process 2          +2 ······ +5
 *     sum          3      5  6      11      7
 *
 * To limit memory, times are rounded up to a grid whose width is a power of two, and the grid
 * becomes coarser when there are too many steps. The final width is the smallest for which all
 * changes fit, in any order of inputs.
 *
 * The last point has the final values of the processes that end last, as a single process's
 * timeline has its final value. */
#include "merge/merger.h"

#include <string.h>

#include "profile/time_slice.h"

enum { WIDTH_BITS_MIN = 10 };

/* Return A - B, wrapping as counters_sum does. */
static int64_t
difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void
add_step(struct time_step *sum, const struct time_step *s)
{
    sum->live = counters_sum(sum->live, s->live);
    sum->ended = counters_sum(sum->ended, s->ended);
    sum->events += s->events;
}

static void
merge_timeline_widen(struct time_sum *t)
{
    size_t kept = 0;

    t->width_bits++;
    for (size_t i = 0; i < t->count; i++) {
        struct time_step s = t->steps[i];

        s.index = (s.index + 1) / 2;
        if (kept > 0 && t->steps[kept - 1].index == s.index)
            add_step(&t->steps[kept - 1], &s);
        else
            t->steps[kept++] = s;
    }
    t->count = kept;
}

static uint64_t
grid_index(const struct time_sum *t, uint64_t unix_ns)
{
    return (unix_ns + (UINT64_C(1) << t->width_bits) - 1) >> t->width_bits;
}

static void
add_at(struct time_sum *t, uint64_t unix_ns, struct time_step change)
{
    size_t low = 0, high = t->count;

    change.index = grid_index(t, unix_ns);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->steps[middle].index < change.index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < t->count && t->steps[low].index == change.index) {
        add_step(&t->steps[low], &change);
        return;
    }
    memmove(&t->steps[low + 1], &t->steps[low], (t->count - low) * sizeof t->steps[0]);
    t->steps[low] = change;
    t->count++;
    while (t->count > MERGE_TIME_POINTS)
        merge_timeline_widen(t);
}

void
time_sum_add(struct time_sum *t, const struct profile *p)
{
    int64_t live = 0, end_live = counters_live_bytes(&p->totals);
    uint64_t events = 0, end_ns = time_of_end(p), last_ns = 0;

    if (t->width_bits == 0)
        t->width_bits = WIDTH_BITS_MIN;
    for (size_t i = 0; i < p->time_point_count; i++) {
        const struct profile_time_point *d = &p->timeline[i];

        last_ns = time_after(p->process.start_unix_ns, d->elapsed_ns);
        add_at(t, last_ns,
               (struct time_step){.live = difference(d->live_bytes, live),
                                  .events = d->events - events});
        live = d->live_bytes;
        events = d->events;
    }
    // In a sum, processes that ended before the last have no live bytes, even if they did not free
    // them.
    if (p->merged_processes > 1 && p->time_point_count > 0)
        end_live = live;
    add_at(t, last_ns > end_ns ? last_ns : end_ns,
           (struct time_step){
               .live = difference(end_live, live),
               .ended = p->process.ended ? difference(0, end_live) : 0,
               .events = (uint64_t)counters_sum(p->totals.allocations, p->totals.frees) - events});
}

void
time_sum_finish(const struct time_sum *t, uint64_t end_unix_ns, struct profile *p)
{
    uint64_t start = p->process.start_unix_ns, events = 0;
    int64_t live = 0;

    p->timeline = arena_array(&p->arena, t->count, sizeof *p->timeline);
    for (size_t i = 0; i < t->count; i++) {
        const struct time_step *s = &t->steps[i];
        uint64_t unix_ns = s->index << t->width_bits;

        live = counters_sum(live, s->live);
        events += s->events;
        if (s->index < grid_index(t, end_unix_ns))
            live = counters_sum(live, s->ended);
        p->timeline[p->time_point_count++] = (struct profile_time_point){
            .elapsed_ns = unix_ns > start ? unix_ns - start : 1,
            .live_bytes = live,
            .events = events,
        };
    }
}

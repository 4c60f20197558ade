/* merge_history.c: counters of a sum's rows over time.
 *
 * Snapshots belong to one process and its clock, so a merged file has none. For a timeline of a
 * session's processes, they are aligned to the wall clock, which each process recorded at its
 * start:
 *
 *     process 1    ·  ·  ·  ·  · end
 *     process 2            ·    ·    ·    ·  end
 *     sum          |    |    |    |    |    |        moments at equal distances
 *
 * A change of a row is known at its snapshot, and counts from the sum's next moment on. When a
 * process ends, its memory returns to the system and counts as freed at the next moment. Otherwise
 * the memory of a hundred compilers, one after another, would look like one growing heap. Only
 * processes that live until the end of the sum keep their blocks, as in the profile of one
 * process. */
#include "merge/merger.h"

#include <string.h>

#include "profile/time_slice.h"

/* Return the time of moment K of the sum. Requires K <= HISTORY_POINTS. */
static uint64_t
point_ns(const struct merge *m, size_t k)
{
    uint64_t length = m->history_to_ns - m->history_from_ns;

    return m->history_from_ns +
           (uint64_t)((double)length * (double)(k + 1) / (double)(HISTORY_POINTS + 1));
}

/* Return the interval of the sum that contains the time UNIX_NS. */
static uint32_t
interval_of_time(const struct merge *m, uint64_t unix_ns)
{
    uint32_t low = 0, high = HISTORY_POINTS;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (point_ns(m, middle) < unix_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void
merge_history_add_change(struct merge *m, uint32_t thread_site, uint32_t interval,
                         const struct profile_amounts *amounts)
{
    struct profile *p = m->p;
    bool is_new;
    uint64_t *known = map_put(&m->changes, (uint64_t)thread_site << 32 | interval, &is_new);

    if (is_new) {
        arena_grow(&p->arena, &p->changes, &m->change_capacity, p->change_count,
                   sizeof *p->changes);
        p->changes[p->change_count] = (struct profile_change){.thread_site = thread_site,
                                                              .interval = interval};
        *known = p->change_count++;
    }
    profile_amounts_add(&p->changes[*known].amounts, amounts);
}

/* Return the row of the sum for row I of IN. */
static uint32_t
merge_history_row_of(struct merge *m, const struct merge_input *in, size_t i)
{
    const struct profile_thread_site *from = &in->p->thread_sites[i];

    return (uint32_t)*map_get(&m->thread_sites, (uint64_t)in->threads[from->thread] << 32 |
                                                    in->sites[from->site]);
}

/* Count the blocks that row I of IN holds at its end as freed in INTERVAL. */
static void
merge_history_release(struct merge *m, const struct merge_input *in, size_t i, uint32_t interval)
{
    const struct counters *c = profile_row_counters(in->p, i);
    uint32_t row = merge_history_row_of(m, in, i);
    struct counters freed = COUNTERS_ZERO;

    freed.frees = counters_live_blocks(c);
    freed.freed_bytes = counters_live_bytes(c);
    profile_count(m->p, row, &freed);
    merge_history_add_change(
        m, row, interval,
        &(struct profile_amounts){.frees = freed.frees, .freed_bytes = freed.freed_bytes});
}

/* Add the collections in P's snapshots, each at the sum's next moment. */
static void
add_collections(struct merge *m, const struct profile *p)
{
    uint64_t before = 0;

    for (size_t i = 0; i < p->snapshot_count; i++) {
        const struct profile_snapshot *s = &p->snapshots[i];
        uint32_t interval =
            interval_of_time(m, time_after(p->process.start_unix_ns, s->elapsed_ns));

        if (s->collections <= before)
            continue;
        if (interval < m->p->snapshot_count)
            m->p->snapshots[interval].collections += s->collections - before;
        before = s->collections;
    }
}

void
merge_history(struct merge *m, struct merge_input *in)
{
    const struct profile *p = in->p;
    uint32_t end;

    if (!m->p->has_history)
        return;
    end = interval_of_time(m, time_of_end(p));
    for (size_t i = 0; i < p->change_count; i++) {
        const struct profile_change *c = &p->changes[i];
        uint32_t interval = end;

        if (c->interval < p->snapshot_count)
            interval = interval_of_time(m, time_after(p->process.start_unix_ns,
                                                      p->snapshots[c->interval].elapsed_ns));
        merge_history_add_change(m, merge_history_row_of(m, in, c->thread_site), interval,
                                 &c->amounts);
    }
    add_collections(m, p);
    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct counters *c = profile_row_counters(p, i);

        if (!p->has_history) // The counters of this process are known only at its end.
            merge_history_add_change(m, merge_history_row_of(m, in, i), end,
                                     &(struct profile_amounts){c->allocations, c->allocated_bytes,
                                                               c->frees, c->freed_bytes});
        if (p->process.ended && end < HISTORY_POINTS)
            merge_history_release(m, in, i, end + 1);
    }
}

void
merge_history_begin(struct merge *m, uint64_t from_unix_ns, uint64_t to_unix_ns)
{
    struct profile *p = m->p;

    if (to_unix_ns <= from_unix_ns)
        return;
    m->history_from_ns = from_unix_ns;
    m->history_to_ns = to_unix_ns;
    p->has_history = true;
    p->snapshots = arena_array(&p->arena, HISTORY_POINTS, sizeof *p->snapshots);
    p->snapshot_count = HISTORY_POINTS;
    for (size_t k = 0; k < HISTORY_POINTS; k++)
        p->snapshots[k] = (struct profile_snapshot){
            .elapsed_ns = point_ns(m, k) - from_unix_ns, .name = "", .kind = SNAPSHOT_TIMED};
}

void
merge_history_finish(struct merge *m)
{
    struct profile *p = m->p;
    struct profile_amounts gains[HISTORY_POINTS + 1] = {{0}}, sum = {0};

    for (size_t i = 0; i < p->change_count; i++)
        profile_amounts_add(&gains[p->changes[i].interval], &p->changes[i].amounts);
    for (size_t k = 0; k < p->snapshot_count; k++) {
        profile_amounts_add(&sum, &gains[k]);
        p->snapshots[k].amounts = sum;
        p->snapshots[k].collections += k > 0 ? p->snapshots[k - 1].collections : 0;
    }
}

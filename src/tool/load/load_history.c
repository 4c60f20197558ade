/* load_history.c: the counters at each snapshot.
 *
 * A record of the file has a counter's value at one snapshot, and at the snapshots between that and
 * the counter's previous record. Between two records, the counter therefore changed in only one
 * interval, right after the older record's snapshot:
 *
 *     snapshots      1     2     3     4     5   end
 *     records              a           b         c (the counter itself)
 *     changes     (born) a |     b - a |   c - b
 *
 * The model stores these changes. Changes of several counters can be added, the growth in a period
 * is a sum of changes, and the sum of all changes equals the final counters, even if the file is
 * damaged.
 *
 * A snapshot may be missing from the file: packing removes some, and a copy of a growing file may
 * lack the latest. Its records then count for the last snapshot before it that is present. Among
 * several records of a counter there, the first has the counter's value. A record out of order is
 * skipped. A record of an unknown counter is skipped with a note. */
#include "load/loader.h"

#include <stdlib.h>
#include <string.h>

#include "util/amount.h"

/* Maximum time of a snapshot, about seventy years, which keeps sums of times in range. */
#define ELAPSED_NS_MAX ((uint64_t)1 << 61)

/* Maximum number of records that are read, more than any recorder writes. Limits the memory for a
 * forged file. */
#define HISTORY_RECORDS_MAX ((size_t)1 << 22)

/* Progress through the records of one counter. */
struct walk {
    struct profile_amounts known; // Value at the last record.
    // Ordinal of that record's snapshot; before the first record, the snapshot of the counter's
    // birth.
    uint32_t snapshots;
};

/* Progress of the counters that have records; in a short run, few have any. */
struct walks {
    const uint32_t *ordinals; // Ordinal by snapshot id.
    size_t ids;               // Largest index of `ordinals`.
    // By counter: index into v plus 1; 0 = no records. NULL if no counter has records.
    uint32_t *place;
    struct walk *v;
    size_t count, capacity;
    struct arena arena;
};

static struct profile_amounts
load_history_since(struct profile_amounts now, const struct profile_amounts *then)
{
    return (struct profile_amounts){
        .allocations = counters_sum(now.allocations, (int64_t)(0 - (uint64_t)then->allocations)),
        .allocated_bytes =
            counters_sum(now.allocated_bytes, (int64_t)(0 - (uint64_t)then->allocated_bytes)),
        .frees = counters_sum(now.frees, (int64_t)(0 - (uint64_t)then->frees)),
        .freed_bytes = counters_sum(now.freed_bytes, (int64_t)(0 - (uint64_t)then->freed_bytes)),
    };
}

/* Return the amounts at D, in a file whose recorder kept no history. Such a snapshot has no id and
 * contains the amounts itself. */
static struct profile_amounts
known_amounts(const struct disk_snapshot *d)
{
    struct profile_amounts amounts = {0};

    if (d->id != 0)
        return amounts;
    amounts.allocations = (int64_t)d->allocations;
    amounts.allocated_bytes = (int64_t)d->allocated_bytes;
    amounts.freed_bytes = (int64_t)(d->allocated_bytes - (uint64_t)d->live_bytes);
    return amounts;
}

static void
take_snapshot(struct profile *p, const struct disk_snapshot *d)
{
    p->snapshots[p->snapshot_count++] = (struct profile_snapshot){
        .elapsed_ns = d->elapsed_ns,
        .name = arena_strndup(&p->arena, d->name, strnlen(d->name, sizeof d->name)),
        .kind = d->kind,
        .collections = d->collections,
        .amounts = known_amounts(d),
    };
}

static int
load_history_by_time(const void *a, const void *b)
{
    const struct profile_snapshot *x = a, *y = b;

    return x->elapsed_ns < y->elapsed_ns ? -1 : x->elapsed_ns > y->elapsed_ns;
}

/* Load the snapshots. Return, by snapshot id, the number of snapshots up to it. The array is from
 * the scratch ARENA. */
static uint32_t *
load_snapshots(struct loader *l, struct arena *arena)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_SNAPSHOTS), bad = 0;
    uint32_t *ordinals = arena_array(arena, count + 1, sizeof *ordinals);

    // Room for one more, at the last tick.
    p->snapshots = arena_array(&p->arena, count + 1, sizeof *p->snapshots);
    for (size_t i = 0; i < count; i++) {
        const struct disk_snapshot *d = raw_record(l->raw, DISK_SNAPSHOTS, i);
        bool used = d->elapsed_ns != 0;
        bool good = d->kind < SNAPSHOT_KINDS && (d->id == i + 1 || d->id == 0) &&
                    d->elapsed_ns <= ELAPSED_NS_MAX;

        if (used && good)
            take_snapshot(p, d);
        p->has_history |= used && good && d->id != 0;
        bad += used && !good;
        ordinals[i + 1] = (uint32_t)p->snapshot_count;
    }
    if (bad)
        raw_damage(l->raw, "it has %s, which %s skipped",
                   amount_plural(&p->arena, (int64_t)bad, "damaged snapshot"),
                   bad == 1 ? "was" : "were");
    if (!p->has_history && p->snapshot_count > 1)
        qsort(p->snapshots, p->snapshot_count, sizeof *p->snapshots, load_history_by_time);
    // Ids rise with time, but two threads may have read the clock in the other order.
    for (size_t i = 1; i < p->snapshot_count; i++)
        if (p->snapshots[i].elapsed_ns < p->snapshots[i - 1].elapsed_ns)
            p->snapshots[i].elapsed_ns = p->snapshots[i - 1].elapsed_ns;
    return ordinals;
}

static void
load_history_add_change(struct profile *p, uint32_t thread_site, uint32_t interval,
                        struct profile_amounts amounts)
{
    if ((amounts.allocations | amounts.allocated_bytes | amounts.frees | amounts.freed_bytes) != 0)
        p->changes[p->change_count++] = (struct profile_change){thread_site, interval, amounts};
}

static const struct disk_counter *
counter_at(const struct loader *l, size_t i)
{
    const struct disk_block *b = raw_record(l->raw, DISK_COUNTERS, i / DISK_BLOCK_SITES);

    return &b->counters[i % DISK_BLOCK_SITES];
}

/* Return the ordinal of the snapshot before counter I was born. */
static uint32_t
birth_of(const struct loader *l, const struct walks *walks, size_t i)
{
    size_t born = counter_at(l, i)->born;

    return walks->ordinals[born <= walks->ids ? born : walks->ids];
}

/* Return the progress of counter I, created at its first record. */
static struct walk *
walk_of(const struct loader *l, struct walks *walks, size_t i)
{
    if (walks->place[i] == 0) {
        arena_grow(&walks->arena, &walks->v, &walks->capacity, walks->count, sizeof *walks->v);
        walks->v[walks->count] = (struct walk){.snapshots = birth_of(l, walks, i)};
        walks->place[i] = (uint32_t)++walks->count;
    }
    return &walks->v[walks->place[i] - 1];
}

static size_t
load_history_record_count(const struct loader *l)
{
    size_t count = raw_count(l->raw, DISK_HISTORY);

    return count < HISTORY_RECORDS_MAX ? count : HISTORY_RECORDS_MAX;
}

/* Return true if counter I belongs to a thread; it may have no site. */
static bool
has_counter(const struct loader *l, size_t i, size_t counter_count)
{
    const struct disk_block *b;

    if (i >= counter_count)
        return false;
    b = raw_record(l->raw, DISK_COUNTERS, i / DISK_BLOCK_SITES);
    return b->thread != 0;
}

/* Add the changes between consecutive records of each counter. Return the number of invalid
 * records.
 */
static size_t
follow_records(struct loader *l, struct walks *walks, size_t counter_count)
{
    size_t count = load_history_record_count(l), bad = 0;

    for (size_t i = 0; i < count; i++) {
        const struct disk_history *d = raw_record(l->raw, DISK_HISTORY, i);
        struct profile_amounts amounts;
        struct walk *walk;
        uint32_t snapshots;

        if (d->snapshot == 0)
            continue;
        bad += !has_counter(l, d->counter, counter_count);
        if (!has_counter(l, d->counter, counter_count) || l->thread_site_of[d->counter] == 0)
            continue;
        snapshots = walks->ordinals[d->snapshot <= walks->ids ? d->snapshot : walks->ids];
        walk = walk_of(l, walks, d->counter);
        if (snapshots <= walk->snapshots)
            continue;
        amounts = (struct profile_amounts){(int64_t)d->allocations, (int64_t)d->allocated_bytes,
                                           (int64_t)d->frees, (int64_t)d->freed_bytes};
        load_history_add_change(l->p, l->thread_site_of[d->counter] - 1, walk->snapshots,
                                load_history_since(amounts, &walk->known));
        *walk = (struct walk){amounts, snapshots};
    }
    return bad;
}

static struct profile_amounts
amounts_of(const struct disk_counter *d)
{
    return (struct profile_amounts){(int64_t)d->allocations, (int64_t)d->allocated_bytes,
                                    (int64_t)d->frees, (int64_t)d->freed_bytes};
}

/* Add the change after the last record of each counter, or after its birth. In a short run that is
 * the only change of nearly all counters. */
static void
end_walks(struct loader *l, const struct walks *walks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t row = l->thread_site_of[i], place = walks->place != NULL ? walks->place[i] : 0;
        struct profile_amounts amounts;

        if (row == 0)
            continue;
        amounts = amounts_of(counter_at(l, i));
        if (place == 0)
            load_history_add_change(l->p, row - 1, birth_of(l, walks, i), amounts);
        else
            load_history_add_change(l->p, row - 1, walks->v[place - 1].snapshots,
                                    load_history_since(amounts, &walks->v[place - 1].known));
    }
}

/* Add the changes of all COUNT counters. Return the number of invalid records. */
static size_t
follow_counters(struct loader *l, size_t count, const uint32_t *ordinals)
{
    struct walks walks = {.ordinals = ordinals, .ids = raw_count(l->raw, DISK_SNAPSHOTS)};
    size_t bad = 0;

    if (load_history_record_count(l) > 0) {
        walks.place = arena_array(&walks.arena, count, sizeof *walks.place);
        bad = follow_records(l, &walks, count);
    }
    end_walks(l, &walks, count);
    arena_release(&walks.arena);
    return bad;
}

static void
sum_snapshots(struct profile *p)
{
    struct profile_amounts *intervals =
        arena_array(&p->arena, p->snapshot_count + 1, sizeof *intervals);

    for (size_t i = 0; i < p->change_count; i++)
        profile_amounts_add(&intervals[p->changes[i].interval], &p->changes[i].amounts);
    for (size_t i = 0; i < p->snapshot_count; i++) {
        // Values from the history replace the values in a snapshot without an id.
        p->snapshots[i].amounts = i > 0 ? p->snapshots[i - 1].amounts : (struct profile_amounts){0};
        profile_amounts_add(&p->snapshots[i].amounts, &intervals[i]);
    }
}

/* Return the maximum number of changes. */
static size_t
count_changes(const struct loader *l, size_t counter_count)
{
    size_t count = load_history_record_count(l), changes = 0;

    for (size_t i = 0; i < counter_count; i++)
        changes += l->thread_site_of[i] != 0;
    for (size_t i = 0; i < count; i++) {
        const struct disk_history *d = raw_record(l->raw, DISK_HISTORY, i);

        changes += d->snapshot != 0;
    }
    return changes;
}

/* End the snapshots of a running process by one at its last tick. It has the present values,
 * provided that live bytes changed more from the latest snapshot to that tick than since the tick.
 * The recorder does the same at its next tick (account/history.c). */
static void
add_last_tick(struct loader *l)
{
    const struct disk_shared *shared = &l->raw->header.shared;
    struct profile *p = l->p;
    const struct profile_snapshot *last = &p->snapshots[p->snapshot_count - 1];
    struct profile_amounts now = last->amounts;
    uint64_t tick_ns = shared->last_ns + 1; // Plus 1, as in snapshots, where 0 = unused.
    int64_t since, until;

    if (p->process.ended || tick_ns < last->elapsed_ns || tick_ns > p->process.elapsed_ns)
        return;
    for (size_t i = 0; i < p->change_count; i++)
        if (p->changes[i].interval == p->snapshot_count)
            profile_amounts_add(&now, &p->changes[i].amounts);
    since = counters_difference(profile_amounts_live(&now), shared->flushed_bytes);
    until = counters_difference(shared->flushed_bytes, profile_amounts_live(&last->amounts));
    if (llabs(since) < llabs(until))
        p->snapshots[p->snapshot_count++] = (struct profile_snapshot){
            .elapsed_ns = tick_ns, .name = "", .kind = SNAPSHOT_TIMED, .amounts = now};
}

void
load_history(struct loader *l)
{
    size_t count = raw_count(l->raw, DISK_COUNTERS) * DISK_BLOCK_SITES, bad;
    struct arena scratch = {0};
    uint32_t *ordinals = load_snapshots(l, &scratch);
    struct profile *p = l->p;

    if (p->has_history) {
        p->changes = arena_array(&p->arena, count_changes(l, count), sizeof *p->changes);
        bad = follow_counters(l, count, ordinals);
        sum_snapshots(p);
        add_last_tick(l);
        if (load_history_record_count(l) < raw_count(l->raw, DISK_HISTORY))
            raw_damage(l->raw, "its history is longer than any recorder's; the rest was skipped");
        // The copy of a file that is being written may have the record and lack the counter.
        if (bad && p->process.ended)
            loader_note_of_loose(l)(
                l->raw, "%s of the history skipped: no known counter",
                amount_plural(&p->arena, (int64_t)bad, "record"));
    }
    arena_release(&scratch);
}

/* history_prune.c: reduce a history to fewer snapshots.
 *
 * The recorder takes thousands of snapshots in a run of days, more densely near its start. A few
 * hundred, evenly spread, suffice to see a leak grow. They are chosen by time: the run is divided
 * into HISTORY_PRUNE_TIMED_MAX equal parts, and each part keeps its last snapshot. If the history
 * is still long, because the program has many stacks, the parts are doubled in length, down to
 * HISTORY_PRUNE_TIMED_MIN parts.
 *
 * A record has a counter's value at one snapshot, and at the snapshots between that and the
 * counter's previous record. If its snapshot is removed, the record moves to the last remaining
 * snapshot before it:
 *
 *     snapshots        1    2    3    4    5              1    .    .    4    5
 *     records               a    b         c     ->       a                   c
 *
 * Here a was the value at 1 and 2, and b the value at 3, which is removed. If several records move
 * to one snapshot, the first is right. Ids do not change: removed snapshots become zero, and
 * compress to nothing. */
#include "profile/pack.h"

#include <string.h>

/* Return the length of the run according to its snapshots. */
static uint64_t
last_snapshot_ns(const struct raw_file *raw)
{
    uint64_t last = 0;

    for (size_t i = 0; i < raw_count(raw, DISK_SNAPSHOTS); i++) {
        const struct disk_snapshot *s = raw_record(raw, DISK_SNAPSHOTS, i);

        // The reader rejects later times.
        if (s->elapsed_ns > last && s->elapsed_ns < (uint64_t)1 << 61)
            last = s->elapsed_ns;
    }
    return last;
}

static bool
is_timed(const struct disk_snapshot *s)
{
    return s->elapsed_ns != 0 && s->kind == DISK_SNAPSHOT_TIMED && s->id != 0;
}

static size_t
history_prune_count_timed(const struct raw_file *raw)
{
    size_t timed = 0;

    for (size_t i = 0; i < raw_count(raw, DISK_SNAPSHOTS); i++)
        timed += is_timed(raw_record(raw, DISK_SNAPSHOTS, i));
    return timed;
}

/* Zero each snapshot of the timeline that is followed by another in the same of PARTS equal parts
 * of the run. */
static void
drop_snapshots(struct raw_file *raw, uint32_t parts)
{
    uint64_t last = last_snapshot_ns(raw);
    double part_ns = (double)last / parts, kept_part = -1;

    for (size_t i = raw_count(raw, DISK_SNAPSHOTS); i-- > 0;) {
        struct disk_snapshot *s = raw_change(raw, DISK_SNAPSHOTS, i);
        double part;

        if (!is_timed(s) || s->elapsed_ns > last)
            continue;
        // 1 is subtracted, because otherwise the last moment would be in a separate part.
        part = (double)(uint64_t)((double)(s->elapsed_ns - 1) / part_ns);
        if (part == kept_part)
            memset(s, 0, sizeof *s);
        kept_part = part;
    }
}

/* Last remaining snapshot up to each snapshot. */
struct kept_snapshots {
    uint32_t *ids; // By snapshot id; 0 = none.
    size_t last;   // Largest index of `ids`.
};

static struct kept_snapshots
kept_ids(const struct raw_file *raw, struct arena *arena)
{
    size_t count = raw_count(raw, DISK_SNAPSHOTS);
    uint32_t *kept = arena_array(arena, count + 1, sizeof *kept);

    for (size_t i = 0; i < count; i++) {
        const struct disk_snapshot *s = raw_record(raw, DISK_SNAPSHOTS, i);

        kept[i + 1] = s->elapsed_ns != 0 ? (uint32_t)i + 1 : kept[i];
    }
    return (struct kept_snapshots){kept, count};
}

static uint32_t
kept_until(const struct kept_snapshots *kept, uint32_t id)
{
    return kept->ids[id <= kept->last ? id : kept->last];
}

/* Return, by counter, the latest snapshot at which its value is known from the kept records.
 * Initially this is the last kept snapshot before the counter's birth. */
static uint32_t *
known_at_birth(const struct raw_file *raw, const struct kept_snapshots *kept, size_t count,
               struct arena *arena)
{
    uint32_t *told = arena_array(arena, count, sizeof *told);

    for (size_t i = 0; i < count; i++) {
        const struct disk_block *b = raw_record(raw, DISK_COUNTERS, i / DISK_BLOCK_SITES);

        told[i] = kept_until(kept, b->counters[i % DISK_BLOCK_SITES].born);
    }
    return told;
}

/* Assign each record to a remaining snapshot, and remove redundant records. */
static void
prune_history(struct raw_file *raw)
{
    struct raw_table *history = &raw->tables[DISK_HISTORY];
    size_t counters = raw_count(raw, DISK_COUNTERS) * DISK_BLOCK_SITES, left = 0;
    struct arena scratch = {0};
    struct kept_snapshots kept = kept_ids(raw, &scratch);
    uint32_t *told = known_at_birth(raw, &kept, counters, &scratch);
    size_t count = raw_count(raw, DISK_HISTORY);

    for (size_t i = 0; i < count; i++) {
        struct disk_history d = *(const struct disk_history *)raw_record(raw, DISK_HISTORY, i);

        if (d.snapshot == 0 || d.counter >= counters)
            continue;
        d.snapshot = kept_until(&kept, d.snapshot);
        if (d.snapshot <= told[d.counter])
            continue;
        told[d.counter] = d.snapshot;
        memcpy(raw_change(raw, DISK_HISTORY, left++), &d, sizeof d);
    }
    history->size_bytes = (uint64_t)left * history->record_bytes;
    arena_release(&scratch);
}

static size_t
count_records(const struct raw_file *raw)
{
    size_t count = raw_count(raw, DISK_HISTORY), used = 0;

    for (size_t i = 0; i < count; i++)
        used += ((const struct disk_history *)raw_record(raw, DISK_HISTORY, i))->snapshot != 0;
    return used;
}

void
history_prune_snapshots(struct raw_file *raw)
{
    for (uint32_t parts = HISTORY_PRUNE_TIMED_MAX; parts >= HISTORY_PRUNE_TIMED_MIN; parts /= 2) {
        if (history_prune_count_timed(raw) > parts) {
            drop_snapshots(raw, parts);
            prune_history(raw);
        }
        if (count_records(raw) <= HISTORY_PRUNE_RECORDS)
            return;
    }
}

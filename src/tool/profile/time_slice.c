/* time_slice.c: find moments by name and time, and cut profiles at them.
 *
 * The history has the growth of each row of counters between adjacent snapshots. A profile at a
 * moment is therefore a sum of changes. These sums replace the final values of rows, sites and
 * threads, so views need no special case. Values outside the history (peaks, sizes, temporary
 * blocks, errors of estimates) are removed, because they describe the whole run.
 *
 * The peak is a moment as well, although no snapshot is taken there: every site's counters have its
 * share of the peak. Only live amounts are known there.
 *
 * The processes of a session share one clock for times. A process has nothing before its start, and
 * no live blocks after its end. Names of snapshots are moments of each process alone.
 *
 * A moment lies at a snapshot. A time between two means the earlier one, because later changes
 * cannot be separated. Without snapshots (a short run, a merge) the start and the end are known
 * nevertheless: nothing and everything. A time between these is refused there: the start would be a
 * wrong answer for nearly the whole run. */
#include "profile/time_slice.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_valid.h"
#include "util/amount.h"
#include "util/ensure.h"

#define COUNTERS_PARTIAL                                                                           \
    ((struct counters){.size_min = SIZE_MIN_NONE, .partial = true, .lifetimes_unknown = true})

/* Maximum time, a million hours, which keeps sums in range. */
#define NS_MAX (1e6 * 3600e9)

/* Time of the first periodic snapshot (format.md 4.11). */
#define FIRST_SNAPSHOT_NS (UINT64_C(16) * 1000 * 1000)

/* Limit of times; later ones are clamped, so that sums do not overflow. Real clocks are earlier. */
#define TIME_MAX (UINT64_C(1) << 62)

uint64_t
time_after(uint64_t start, uint64_t elapsed)
{
    if (start > TIME_MAX)
        return TIME_MAX;
    return elapsed > TIME_MAX - start ? TIME_MAX : start + elapsed;
}

uint64_t
time_of_end(const struct profile *p)
{
    return time_after(p->process.start_unix_ns, p->process.elapsed_ns);
}

struct profile_point
point_at(const struct profile *p, size_t n)
{
    if (n == 0)
        return (struct profile_point){.name = "start"};
    if (n > p->snapshot_count)
        return (struct profile_point){.snapshots = p->snapshot_count + 1,
                                      .elapsed_ns = p->process.elapsed_ns,
                                      .name = "end"};
    return (struct profile_point){.snapshots = n,
                                  .elapsed_ns = p->snapshots[n - 1].elapsed_ns,
                                  .name = p->snapshots[n - 1].name};
}

/* Return the number of snapshots up to the one whose name is the first LENGTH bytes of NAME: the
 * latest of that name, or the NUMBERth. Return 0 if there is none. */
static size_t
time_slice_find_name(const struct profile *p, const char *name, size_t length, uint64_t number)
{
    size_t found = 0;

    for (size_t i = 0; i < p->snapshot_count; i++) {
        const char *own = p->snapshots[i].name;

        if (length == 0 || strlen(own) != length || memcmp(own, name, length) != 0)
            continue;
        found = i + 1;
        if (number != 0 && --number == 0)
            return found;
    }
    return number == 0 ? found : 0;
}

/* Find the snapshot called "NAME" or "NAME#2". */
static size_t
find_snapshot(const struct profile *p, const char *name)
{
    const char *hash = strrchr(name, '#');
    size_t found = time_slice_find_name(p, name, strlen(name), 0);
    char *end;
    unsigned long long number;

    if (found != 0 || hash == NULL || !isdigit((unsigned char)hash[1]))
        return found;
    number = strtoull(hash + 1, &end, 10);
    return *end == '\0' && number > 0 ? time_slice_find_name(p, name, (size_t)(hash - name), number)
                                      : 0;
}

/* Parse a part of a time at *TEXT, such as "1.5h", in nanoseconds. Advance *TEXT past it. */
static bool
time_slice_read_part(const char **text, double *ret)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ms", 1e6},   {"min", 60e9}, {"d", 86400e9},
                 {"h", 3600e9}, {"m", 60e9},   {"s", 1e9}};
    char *end;
    double number;

    if (!isdigit((unsigned char)**text))
        return false;
    number = strtod(*text, &end);
    for (size_t i = 0; i < countof(units); i++) {
        size_t length = strlen(units[i].name);

        if (strncmp(end, units[i].name, length) != 0)
            continue;
        *ret = number * units[i].ns;
        *text = end + length;
        return *ret <= NS_MAX;
    }
    return false;
}

/* Parse TEXT as a duration: "90s", "1h30m", "1.5 h". The result is rounded to the nearest
 * nanosecond, so that a time printed as a decimal number is parsed to the same value. */
static bool
read_time(const char *text, uint64_t *ret_ns)
{
    double sum = 0, part;

    while (time_slice_read_part(&text, &part)) {
        sum += part;
        if (*text == '\0') {
            *ret_ns = (uint64_t)(sum + 0.5);
            return sum <= NS_MAX;
        }
    }
    return false;
}

/* Return the time by which P started after its clock. */
static uint64_t
time_slice_clock_delay(const struct profile *p)
{
    uint64_t from_ns = p->clock.start_unix_ns, start_ns = time_after(p->process.start_unix_ns, 0);

    return p->clock.end_unix_ns == 0 || from_ns >= start_ns ? 0 : start_ns - from_ns;
}

/* Return the time from the start of P's clock to P's end. */
static uint64_t
time_slice_end(const struct profile *p)
{
    return time_after(time_slice_clock_delay(p), p->process.elapsed_ns);
}

/* Return the time from the start of P's clock to the clock's end. */
static uint64_t
time_slice_clock_length(const struct profile *p)
{
    const struct profile_clock *c = &p->clock;
    uint64_t own_ns = time_slice_end(p);

    if (c->end_unix_ns < c->start_unix_ns || c->end_unix_ns - c->start_unix_ns < own_ns)
        return own_ns;
    return c->end_unix_ns - c->start_unix_ns;
}

/* Return true if WHEN has a meaning in every profile, which no snapshot of that name changes. */
static bool
is_reserved_moment(const char *when)
{
    uint64_t ns;

    return strcmp(when, "start") == 0 || strcmp(when, "end") == 0 || strcmp(when, "peak") == 0 ||
           read_time(when + (*when == '-'), &ns);
}

bool
time_slice_is_reserved(const char *name)
{
    return is_reserved_moment(name) || strstr(name, "..") != NULL;
}

/* WHEN as a time of P's clock, "5m" from its start or "-5m" from its end. */
static bool
read_elapsed(const struct profile *p, const char *when, uint64_t *ret_ns)
{
    bool before_end = *when == '-';
    uint64_t ns, end_ns = time_slice_clock_length(p);

    if (!read_time(when + before_end, &ns))
        return false;
    *ret_ns = !before_end ? ns : ns < end_ns ? end_ns - ns : 0;
    return true;
}

/* Set *RET to the start or the end of P if WHEN, which is no time, means one of them. */
static bool
find_either_end(const struct profile *p, const char *when, struct profile_point *ret)
{
    if (strcmp(when, "start") == 0)
        *ret = point_at(p, 0);
    else if (strcmp(when, "end") == 0)
        *ret = point_at(p, p->snapshot_count + 1);
    else
        return false;
    return true;
}

/* Set *RET to the start or the end of P if the time NS of its clock is not between them. */
static bool
find_outside(const struct profile *p, uint64_t ns, struct profile_point *ret)
{
    uint64_t late_ns = time_slice_clock_delay(p), end_ns = time_slice_end(p);

    // A run without events after its first tick has lasted 0 ns, as far as is known.
    if (ns <= late_ns) {
        *ret = point_at(p, 0);
        ret->life = ns < late_ns ? POINT_BEFORE_START : POINT_OF_LIFE;
    } else if (ns >= end_ns) {
        *ret = point_at(p, p->snapshot_count + 1);
        if (p->process.ended && ns > end_ns && time_slice_clock_length(p) > end_ns)
            ret->life = POINT_AFTER_END;
        if (ns > time_slice_clock_length(p))
            ret->unreached_ns = ns;
    } else {
        return false;
    }
    return true;
}

static struct profile_point
point_before(const struct profile *p, uint64_t ns)
{
    size_t n = 0;

    while (n < p->snapshot_count && p->snapshots[n].elapsed_ns <= ns)
        n++;
    return point_at(p, n);
}

/* Return the names of P's first few snapshots, for a message. */
static const char *
time_slice_known_names(struct profile *p)
{
    enum { NAMES_SHOWN = 8 };
    const char *text = "";
    size_t shown = 0;

    for (size_t i = 0; i < p->snapshot_count; i++) {
        const char *name = p->snapshots[i].name;

        if (*name == '\0' || time_slice_find_name(p, name, strlen(name), 1) != i + 1)
            continue;
        if (++shown <= NAMES_SHOWN)
            text = arena_printf(&p->arena, "%s%s%s", text, shown > 1 ? ", " : "", name);
    }
    return shown == 0 ? "it has no named snapshot"
                      : arena_printf(&p->arena, "its snapshots are %s%s", text,
                                     shown > NAMES_SHOWN ? ", and more" : "");
}

/* Return true if the recorder of P reached its limit on memory. While less than an eighth of the
 * limit is left, it takes no snapshots. */
static bool
reached_limit(const struct profile *p)
{
    const struct profile_recorder *r = &p->recorder;

    return r->limit_bytes != 0 && r->memory_bytes >= r->limit_bytes - r->limit_bytes / 8;
}

/* Return true if P was made from memory, and so has only the blocks of one moment. */
static bool
is_of_one_moment(const struct profile *p)
{
    for (size_t i = 0; i < p->run_note_count; i++)
        if (p->run_notes[i].kind == NOTE_SNAPSHOT || p->run_notes[i].kind == NOTE_MEMORY)
            return true;
    return false;
}

/* Return the reason that P has no history. */
static const char *
history_missing_why(struct profile *p)
{
    if (p->merged_processes)
        return "a merge leaves them out, they are of one process";
    if (is_of_one_moment(p))
        return "it has the live blocks of one moment";
    if (p->snapshot_count > 0)
        return p->has_shares ? "it has too many changes to distribute over callers"
                             : "its recorder is too old";
    if (p->losses.file_failed)
        return "its file could not grow";
    if (reached_limit(p))
        return arena_printf(&p->arena,
                            "the recorder's memory was limited to %s; run with a larger "
                            "--max-memory",
                            amount_text(&p->arena, (int64_t)p->recorder.limit_bytes, true));
    return p->process.elapsed_ns < FIRST_SNAPSHOT_NS
               ? "the run was too short"
               : "the run had too few allocations and frees";
}

/* Set ERR for P, which has no history, with MORE at the end. */
static int
no_history(struct profile *p, const char *more, struct err *err)
{
    return err_set(err, HEAPTAP_BAD_INPUT, "%s: it has no snapshots: %s%s", p->path,
                   history_missing_why(p), more);
}

int
time_slice_need_history(struct profile *p, struct err *err)
{
    return p->has_history ? 0 : no_history(p, "", err);
}

int
time_slice_find(struct profile *p, const char *when, struct profile_point *ret, struct err *err)
{
    // A gate on "end" must not pass because the program has a snapshot of that name.
    size_t n = is_reserved_moment(when) ? 0 : find_snapshot(p, when);
    uint64_t ns;
    bool is_time = n == 0 && read_elapsed(p, when, &ns);

    if (strcmp(when, "peak") == 0) {
        *ret = (struct profile_point){.elapsed_ns = p->peak_elapsed_ns, .name = "peak"};
        ret->is_peak = true;
        return 0;
    }
    if (n == 0 && (is_time ? find_outside(p, ns, ret) : find_either_end(p, when, ret)))
        return 0;
    if (!p->has_history)
        return no_history(p, "; only its start, end and peak are known", err);
    if (n > 0)
        *ret = point_at(p, n);
    else if (is_time)
        *ret = point_before(p, ns - time_slice_clock_delay(p));
    else
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s: '%s' is no moment of it: give a snapshot's name (%s), a time such as "
                       "90s, 5m, 1h30m or -5m (before the end), start, peak or end",
                       p->path, when, time_slice_known_names(p));
    return 0;
}

/* Set RET to the span of the phase that begins with snapshot N. */
static void
span_of_phase(const struct profile *p, size_t n, struct profile_point ret[2])
{
    size_t next = n + 1;

    while (next <= p->snapshot_count && p->snapshots[next - 1].kind != SNAPSHOT_PHASE)
        next++;
    ret[0] = point_at(p, n);
    ret[1] = point_at(p, next);
}

/* Set RET to the two moments around the ".." at DOTS in SPAN. */
static int
span_of_pair(struct profile *p, const char *span, const char *dots, struct profile_point ret[2],
             struct err *err)
{
    const char *first = arena_strndup(&p->arena, span, (size_t)(dots - span)), *last = dots + 2;
    struct profile_point found[2] = {point_at(p, 0), point_at(p, p->snapshot_count + 1)};
    int r = 0;

    // An empty side means the start or the end of the run, never a snapshot called "start" or
    // "end".
    if (*first)
        r = time_slice_find(p, first, &found[0], err);
    if (r == 0 && *last)
        r = time_slice_find(p, last, &found[1], err);
    if (r == 0 && (found[0].is_peak || found[1].is_peak))
        return err_set(err, HEAPTAP_USAGE,
                       "%s: there is no snapshot at the peak, so the events before or after it are "
                       "not known; --at peak shows the live blocks",
                       p->path);
    if (r == 0 && found[0].snapshots > found[1].snapshots)
        return err_set(err, HEAPTAP_USAGE, "%s: '%s' is after '%s'; write the earlier moment first",
                       p->path, *first ? first : "start", *last ? last : "end");
    // A process outside the span has no events in it, which is known.
    if (r == 0 && found[0].snapshots == found[1].snapshots &&
        found[1].life != POINT_BEFORE_START && found[0].life != POINT_AFTER_END)
        r = err_set(err, HEAPTAP_USAGE,
                    "%s: nothing is known between '%s' and '%s': there is no snapshot after the "
                    "first and up to the second",
                    p->path, *first ? first : "start", *last ? last : "end");
    if (r == 0)
        memcpy(ret, found, sizeof found);
    return r;
}

int
time_slice_find_span(struct profile *p, const char *span, struct profile_point ret[2],
                     struct err *err)
{
    const char *dots = strstr(span, "..");
    size_t n = find_snapshot(p, span);
    int r = dots != NULL ? span_of_pair(p, span, dots, ret, err) : HEAPTAP_USAGE;

    if (r == 0)
        return 0;
    // A phase may have ".." in its name.
    if (n > 0 && p->snapshots[n - 1].kind == SNAPSHOT_PHASE) {
        if (p->has_history)
            span_of_phase(p, n, ret);
        return time_slice_need_history(p, err);
    }
    if (dots == NULL)
        return err_set(err, HEAPTAP_USAGE,
                       "%s: '%s' is no phase of the program; write two moments as A..B",
                       p->path, span);
    return r;
}

/* Return counters with only these amounts; nothing else is known at a moment. */
static struct counters
counters_of(const struct profile_amounts *a)
{
    struct counters c = COUNTERS_PARTIAL;

    c.allocations = a->allocations;
    c.allocated_bytes = a->allocated_bytes;
    c.frees = a->frees;
    c.freed_bytes = a->freed_bytes;
    return c;
}

/* A part of C. */
typedef struct counters part_of(const struct counters *c);

/* The live part at the peak, as allocations without frees. */
static struct counters
counters_at_peak(const struct counters *c)
{
    struct counters peak = COUNTERS_PARTIAL;

    peak.allocations = c->peak_blocks;
    peak.allocated_bytes = c->peak_bytes;
    return peak;
}

/* The amounts at the end. */
static struct counters
counters_at_end(const struct counters *c)
{
    return counters_of(&(struct profile_amounts){c->allocations, c->allocated_bytes, c->frees,
                                                 c->freed_bytes});
}

/* Keep of the errors of P's sites only whether the counters depend on sampled callers. Shares at a
 * moment follow the shares of the whole run, so the whole run's error bounds do not apply. */
static void
forget_bounds(struct profile *p)
{
    for (size_t i = 0; i < p->site_error_capacity; i++) {
        struct errors *e = &p->site_errors[i];
        const struct share *s = &e->shares[SHARE_ALLOCATIONS];

        *e = (struct errors){.unbounded = e->group != 0 && (s->whole > 0 || s->unit > 0)};
    }
    if (!p->has_shares) {
        p->site_errors = NULL;
        p->site_error_capacity = 0;
    }
}

static void
empty(struct profile *p)
{
    p->totals = COUNTERS_PARTIAL;
    p->errors = (struct errors){0};
    forget_bounds(p);
    p->peak_elapsed_ns = 0;
    p->peak_error_bytes = 0;
    p->bin_count = 0;
    p->unknown_free_count = 0;
    p->corruption_count = 0;
    // Without periods, no view shows an error bound.
    p->longest_bytes = p->longest_calls = 0;
    for (size_t i = 0; i < p->site_count; i++) {
        struct profile_site *site = &p->sites[i];

        site->whole_peak_bytes = site->counters.peak_bytes;
        site->whole_allocated_bytes = site->counters.allocated_bytes;
        site->whole_size_min = site->counters.size_min;
        site->whole_size_max = site->counters.size_max;
        site->counters = COUNTERS_PARTIAL;
    }
    for (size_t i = 0; i < p->thread_count; i++)
        p->threads[i].counters = COUNTERS_PARTIAL;
    for (size_t i = 0; i < p->thread_site_count && p->row_counters != NULL; i++)
        p->row_counters[i] = COUNTERS_PARTIAL;
    // The history lacks backings, because they are in no thread's row.
    p->backing_count = 0;
}

/* Reduce P, which is whole, to PART of each counter. */
static void
keep_part(struct profile *p, part_of *part)
{
    struct counters *sites = arena_array(&p->arena, p->site_count, sizeof *sites);
    struct counters *rows = arena_array(&p->arena, p->thread_site_count, sizeof *rows);

    for (size_t i = 0; i < p->site_count; i++)
        sites[i] = part(&p->sites[i].counters);
    for (size_t i = 0; i < p->thread_site_count; i++)
        rows[i] = part(profile_row_counters(p, i));
    empty(p);
    for (size_t i = 0; i < p->site_count; i++) {
        counters_add(&p->sites[i].counters, &sites[i]);
        counters_add(&p->totals, &sites[i]);
    }
    for (size_t i = 0; i < p->thread_site_count; i++) {
        if (p->row_counters != NULL)
            counters_add(&p->row_counters[i], &rows[i]);
        counters_add(&p->threads[p->thread_sites[i].thread].counters, &rows[i]);
    }
}

/* Reduce P, which is whole, to its peak. */
static void
cut_at_peak(struct profile *p)
{
    keep_part(p, counters_at_peak);
    // The history covers the whole run, and would contradict the cut.
    p->has_history = false;
    p->change_count = p->snapshot_count = 0;
}

/* Reduce P, which is whole, to the changes from interval FIRST on, and before END. */
static void
cut_at_snapshots(struct profile *p, size_t first, size_t end)
{
    if (!p->has_history && first <= p->snapshot_count && end > p->snapshot_count) {
        keep_part(p, counters_at_end);
        return;
    }
    empty(p);
    for (size_t i = 0; i < p->change_count; i++) {
        const struct profile_change *change = &p->changes[i];
        struct counters c = counters_of(&change->amounts);

        if (change->interval >= first && change->interval < end)
            profile_count(p, change->thread_site, &c);
    }
}

/* Count the blocks that P, which is whole, holds at its end as freed there. */
static void
free_at_end(struct profile *p)
{
    struct profile_change *changes =
        arena_array(&p->arena, p->change_count + p->thread_site_count, sizeof *changes);

    if (p->change_count > 0)
        memcpy(changes, p->changes, p->change_count * sizeof *changes);
    p->changes = changes;
    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct counters *c = profile_row_counters(p, i);
        struct counters freed = COUNTERS_ZERO;

        freed.frees = counters_live_blocks(c);
        freed.freed_bytes = counters_live_bytes(c);
        profile_count(p, i, &freed);
        if (p->has_history)
            p->changes[p->change_count++] = (struct profile_change){
                .thread_site = (uint32_t)i,
                .interval = (uint32_t)p->snapshot_count,
                .amounts = {.frees = freed.frees, .freed_bytes = freed.freed_bytes}};
    }
}

void
profile_cut(struct profile *p, const struct profile_point *from, const struct profile_point *to)
{
    p->to = *to;
    if (to->life == POINT_AFTER_END)
        free_at_end(p);
    if (to->is_peak) {
        p->extent = EXTENT_PEAK;
        cut_at_peak(p);
    } else {
        p->extent = from ? EXTENT_BETWEEN : EXTENT_AT;
        if (from)
            p->from = *from;
        cut_at_snapshots(p, from ? from->snapshots : 0, to->snapshots);
    }
    profile_sum_heaps(p);
    ENSURE_VALID(profile_is_valid(p));
}

/* Give P, whose sites have their counters, one thread with all of them. */
static void
use_one_thread(struct profile *p)
{
    p->row_counters = NULL;
    p->thread_site_count = p->thread_count > 0 ? p->site_count : 0;
    p->thread_sites = arena_array(&p->arena, p->thread_site_count, sizeof *p->thread_sites);
    for (size_t i = 0; i < p->thread_site_count; i++) {
        p->thread_sites[i] = (struct profile_thread_site){.site = (uint32_t)i};
        counters_add(&p->threads[0].counters, &p->sites[i].counters);
    }
}

void
profile_cut_since(struct profile *p, const struct profile *earlier)
{
    struct counters *since = arena_array(&p->arena, p->site_count, sizeof *since);
    struct map sites = {0};

    for (size_t i = 0; i < earlier->site_count; i++)
        if (earlier->sites[i].id != 0)
            *map_put(&sites, earlier->sites[i].id, NULL) = i;
    for (size_t i = 0; i < p->site_count; i++) {
        const struct counters *c = &p->sites[i].counters;
        const uint64_t *old = p->sites[i].id != 0 ? map_get(&sites, p->sites[i].id) : NULL;
        const struct counters *o = old != NULL ? &earlier->sites[*old].counters : &COUNTERS_ZERO;

        since[i] = counters_of(&(struct profile_amounts){
            counters_difference(c->allocations, o->allocations),
            counters_difference(c->allocated_bytes, o->allocated_bytes),
            counters_difference(c->frees, o->frees),
            counters_difference(c->freed_bytes, o->freed_bytes)});
    }
    map_release(&sites);
    empty(p);
    for (size_t i = 0; i < p->site_count; i++) {
        p->sites[i].counters = since[i];
        counters_add(&p->totals, &since[i]);
    }
    use_one_thread(p);
    p->has_history = false;
    p->change_count = p->snapshot_count = 0;
    p->extent = EXTENT_BETWEEN;
    p->from = (struct profile_point){.elapsed_ns = earlier->process.elapsed_ns, .name = ""};
    p->to = (struct profile_point){
        .snapshots = 1, .elapsed_ns = p->process.elapsed_ns, .name = ""};
    profile_sum_heaps(p);
    ENSURE_VALID(profile_is_valid(p));
}

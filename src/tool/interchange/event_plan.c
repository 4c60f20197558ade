/* event_plan.c: synthesise an event stream whose sums equal the counters.
 *
 * A profile stores for each site the number of blocks and bytes allocated, the number of blocks
 * that died at once, and the bytes live at the peak and at the end. With a history it also stores
 * the live bytes at each snapshot, and the amounts allocated between snapshots. It does not store
 * blocks. A list of events needs blocks, so blocks are synthesised that reproduce these numbers:
 *
 *     bytes held  ┌──────────── peak          the level rises and falls from moment to moment;
 *                 │  piece 2  ├──┐            each rise is a piece, which is cut where a fall takes
 *              ┌──┴───────────┴──┤            only a part of it: the latest is freed first, unless
 *              │     piece 1     ├─ end       an older one has exactly this size
 *
 * A piece has one block or more, whose sizes differ by at most one byte. Further allocations of the
 * site come and go between two moments ("churn"). The site's average size determines the number of
 * blocks in a piece, so blocks of equal size keep it.
 *
 * A rise needs an allocation, and allocated bytes beyond the rise need another one. A growing large
 * array lacks the second: a realloc from a hundred to two hundred bytes is one allocation. In that
 * case the old bytes are freed first (gross, in plan_row). If even then there are fewer allocations
 * than pieces, the site loses its history (plan_simply): it has nothing before the peak, then its
 * minimum, then its live amount. So a moment may show less than was live then, but never more. The
 * difference is below a hundredth in a compiler and an interpreter. A site also loses its history
 * if that has more allocations than the site, as in damaged files: the stream could be endless.
 *
 * The reader computes the peak itself, so no moment may exceed ours, or reach it earlier. Within a
 * step, frees come first and allocations last, so that no more is held than at one of its ends.
 * Snapshots above the peak are left out. (The peak is exact only to within a few events of other
 * threads. For a selection of stacks, the time is still the process's.) A churn block that does not
 * fit into a step moves to the step with most room. The end cannot be left out: if it exceeds the
 * peak, it becomes the reader's peak.
 *
 * A block may be live at the peak or at a snapshot and still die at once. It is allocated last in
 * its step and freed first in the next. With several threads, the other threads' blocks lose this
 * property. So do blocks of one site at consecutive snapshots: the level does not change, so they
 * form one piece. */
#include "interchange/event_plan.h"

#include <stdlib.h>
#include <string.h>

#include "profile/time_slice.h"

enum { LOOK_BACK = 16 }; // Number of pieces to search for one of equal size.

/* Changes of a unit between two adjacent moments. */
struct row {
    uint32_t unit, interval; // Interval of the history; later the step that ends there.
    int64_t blocks, bytes;   // Allocated.
    int64_t level;           // Change of the level; after sum_levels the level itself.
    int64_t left_blocks, left_bytes; // Allocated, but not in a piece.
};

struct planner {
    const struct profile *p;
    struct arena *arena;
    struct plan *plan;
    bool has_history;
    struct row *rows; // By unit and interval.
    size_t row_count;
    uint32_t *held; // Pieces of the unit without an end so far, by start.
    size_t held_count, held_capacity;
};

static int64_t
event_plan_not_negative(int64_t value)
{
    return value > 0 ? value : 0;
}

static int64_t
smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Create a unit for each site in STACKS. Return the unit of each site, or PLAN_NONE. */
static uint32_t *
make_units(struct planner *w, const struct stacks *stacks)
{
    const struct profile *p = w->p;
    struct plan *plan = w->plan;
    uint32_t *of_site = arena_array(w->arena, p->site_count, sizeof *of_site);

    plan->units = arena_array(w->arena, p->site_count, sizeof *plan->units);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct counters *c = &p->sites[i].counters;
        struct plan_unit u = {.stack = stacks->site_stacks[i] - 1,
                              .allocations = event_plan_not_negative(c->allocations),
                              .allocated_bytes = event_plan_not_negative(c->allocated_bytes),
                              .peak_bytes = event_plan_not_negative(c->peak_bytes),
                              .live_bytes = event_plan_not_negative(counters_live_bytes(c))};

        u.temporary = smaller(event_plan_not_negative(c->temporary), u.allocations);
        of_site[i] = PLAN_NONE;
        if (stacks->site_stacks[i] == 0 ||
            (u.allocations == 0 && u.peak_bytes == 0 && u.live_bytes == 0))
            continue;
        of_site[i] = (uint32_t)plan->unit_count;
        plan->units[plan->unit_count++] = u;
    }
    return of_site;
}

static int
event_plan_compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    return x->interval < y->interval ? -1 : x->interval > y->interval;
}

/* Merge consecutive rows of the same interval. */
static void
merge_rows(struct planner *w)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->row_count; i++) {
        struct row *to = kept > 0 ? &w->rows[kept - 1] : NULL, *from = &w->rows[i];

        if (to != NULL && event_plan_compare_rows(to, from) == 0) {
            to->blocks = counters_sum(to->blocks, from->blocks);
            to->bytes = counters_sum(to->bytes, from->bytes);
            to->level = counters_sum(to->level, from->level);
        } else {
            w->rows[kept++] = *from;
        }
    }
    w->row_count = kept;
}

static void
make_rows(struct planner *w, const uint32_t *of_site)
{
    const struct profile *p = w->p;
    size_t capacity = (w->has_history ? p->change_count : 0) + w->plan->unit_count;

    w->rows = arena_array(w->arena, capacity, sizeof *w->rows);
    for (size_t i = 0; w->has_history && i < p->change_count; i++) {
        const struct profile_change *c = &p->changes[i];
        uint32_t unit = of_site[p->thread_sites[c->thread_site].site];

        if (unit != PLAN_NONE)
            w->rows[w->row_count++] = (struct row){.unit = unit,
                                                   .interval = c->interval,
                                                   .blocks = c->amounts.allocations,
                                                   .bytes = c->amounts.allocated_bytes,
                                                   .level = profile_amounts_live(&c->amounts)};
    }
    // Each unit has at least one row.
    for (uint32_t i = 0; i < w->plan->unit_count; i++) {
        const struct plan_unit *u = &w->plan->units[i];

        w->rows[w->row_count++] =
            w->has_history ? (struct row){.unit = i}
                           : (struct row){.unit = i,
                                          .blocks = u->allocations,
                                          .bytes = u->allocated_bytes,
                                          .level = u->live_bytes};
    }
    if (w->row_count > 0)
        qsort(w->rows, w->row_count, sizeof *w->rows, event_plan_compare_rows);
    merge_rows(w);
}

/* Return the sum of all levels at the end of each interval. From the arena. */
static int64_t *
sum_levels(struct planner *w, size_t intervals)
{
    int64_t *totals = arena_array(w->arena, intervals, sizeof *totals), sum = 0, shown = 0;

    for (size_t i = 0; i < w->row_count; i++) {
        const struct row *row = &w->rows[i];
        int64_t level;

        if (i == 0 || row->unit != w->rows[i - 1].unit)
            sum = shown = 0;
        sum = counters_sum(sum, row->level);
        level = event_plan_not_negative(sum);
        totals[row->interval] =
            counters_sum(totals[row->interval], counters_difference(level, shown));
        shown = level;
    }
    for (size_t i = 1; i < intervals; i++)
        totals[i] = counters_sum(totals[i], totals[i - 1]);
    return totals;
}

/* Return the interval of the peak, below INTERVALS. */
static size_t
event_plan_peak_interval(const struct planner *w, size_t intervals)
{
    size_t n = 1;

    while (n < intervals && point_at(w->p, n).elapsed_ns < w->p->peak_elapsed_ns)
        n++;
    return n - 1;
}

/* Choose the moments, and store the step of each interval in STEP_OF. */
static void
choose_points(struct planner *w, const int64_t *totals, size_t intervals, uint32_t *step_of)
{
    const struct profile *p = w->p;
    struct plan *plan = w->plan;
    int64_t peak = 0, end = 0, most;
    size_t peak_in = event_plan_peak_interval(w, intervals);

    for (size_t i = 0; i < plan->unit_count; i++) {
        peak = counters_sum(peak, plan->units[i].peak_bytes);
        end = counters_sum(end, plan->units[i].live_bytes);
    }
    most = peak > end ? peak : end;
    for (size_t i = 0; i < intervals; i++) {
        bool last = i + 1 == intervals;
        // An equal level before the peak would become the reader's peak.
        bool fits = totals[i] < most || (totals[i] == most && i >= peak_in && peak >= end);

        if (i == peak_in) {
            plan->peak_step = (uint32_t)plan->step_count;
            plan->steps[plan->step_count++].elapsed_ns = p->peak_elapsed_ns;
        }
        step_of[i] = (uint32_t)plan->step_count;
        if (fits || last)
            plan->steps[plan->step_count++].elapsed_ns =
                last ? p->process.elapsed_ns : point_at(p, i + 1).elapsed_ns;
    }
}

/* Create the steps, and assign a step to each row. */
static void
make_steps(struct planner *w)
{
    size_t intervals = w->has_history ? w->p->snapshot_count + 1 : 1;
    uint32_t *step_of = arena_array(w->arena, intervals, sizeof *step_of);

    w->plan->steps = arena_array(w->arena, intervals + 1, sizeof *w->plan->steps);
    choose_points(w, sum_levels(w, intervals), intervals, step_of);
    for (size_t i = 0; i < w->row_count; i++) {
        uint32_t step = step_of[w->rows[i].interval];

        // If all snapshots up to the peak were left out, the peak lies within the row.
        w->rows[i].interval = step == w->plan->peak_step ? step + 1 : step;
    }
    merge_rows(w);
}

static void
event_plan_add_piece(struct planner *w, struct plan_piece piece, bool held)
{
    struct plan *plan = w->plan;

    arena_grow(w->arena, &plan->pieces, &plan->piece_capacity, plan->piece_count,
               sizeof *plan->pieces);
    plan->pieces[plan->piece_count] = piece;
    if (held) {
        arena_grow(w->arena, &w->held, &w->held_capacity, w->held_count, sizeof *w->held);
        w->held[w->held_count++] = (uint32_t)plan->piece_count;
    }
    plan->piece_count++;
}

/* End the piece at index I of `held` in STEP. */
static void
end_piece(struct planner *w, size_t i, uint32_t step)
{
    w->plan->pieces[w->held[i]].end = step;
    memmove(&w->held[i], &w->held[i + 1], (--w->held_count - i) * sizeof *w->held);
}

/* Free BYTES of the level in STEP. Return false if there are too few blocks to cut a piece. */
static bool
free_bytes(struct planner *w, int64_t bytes, uint32_t step)
{
    size_t first = w->held_count > LOOK_BACK ? w->held_count - LOOK_BACK : 0;

    for (size_t i = w->held_count; i-- > first;)
        if (w->plan->pieces[w->held[i]].bytes == bytes) {
            end_piece(w, i, step);
            return true;
        }
    while (bytes > 0 && w->held_count > 0) {
        struct plan_piece *top = &w->plan->pieces[w->held[w->held_count - 1]], part = *top;
        struct row *row = &w->rows[top->row];

        if (top->bytes <= bytes) {
            bytes -= top->bytes;
            end_piece(w, w->held_count - 1, step);
            continue;
        }
        if (row->left_blocks < 1 + (row->left_bytes > 0))
            return false;
        row->left_blocks--;
        top->bytes -= bytes;
        part.bytes = bytes;
        part.end = step;
        event_plan_add_piece(w, part, false);
        bytes = 0;
    }
    return bytes == 0;
}

/* Plan row I; *LEVEL is the level of its unit. Return false if the row has too few blocks. */
static bool
plan_row(struct planner *w, size_t i, int64_t *level)
{
    struct row *row = &w->rows[i];
    uint32_t peak_step = w->plan->peak_step, step = row->interval;
    bool at_peak = step == peak_step + 1;
    int64_t to[] = {at_peak ? w->plan->units[row->unit].peak_bytes : *level, row->level};
    int64_t gross = 0, before[] = {*level, to[0]};

    row->left_blocks = row->blocks;
    row->left_bytes = row->bytes;
    for (int k = 0; k < 2; k++)
        if (to[k] > before[k]) {
            row->left_blocks--;
            row->left_bytes = counters_difference(row->left_bytes, to[k] - before[k]);
        }
    if (row->left_blocks < 0 || row->left_bytes < 0)
        return false;
    if (row->left_blocks == 0) {
        gross = row->left_bytes;
        row->left_bytes = 0;
    }
    for (int k = 0; k < 2; k++) {
        int64_t rise = event_plan_not_negative(to[k] - before[k]),
                fall = event_plan_not_negative(before[k] - to[k]);
        uint32_t in = k == 0 ? peak_step : step;

        if (rise > 0 && gross > 0 && gross <= before[k]) {
            fall = gross;
            rise += gross;
            gross = 0;
        }
        if (fall > 0 && !free_bytes(w, fall, in))
            return false;
        if (rise > 0)
            event_plan_add_piece(w,
                                 (struct plan_piece){.unit = row->unit,
                                                     .start = in,
                                                     .end = PLAN_NONE,
                                                     .row = (uint32_t)i,
                                                     .bytes = rise},
                                 true);
    }
    *level = row->level;
    return gross == 0;
}

/* Plan UNIT by its rows, from FIRST to END. Return false if they have too few blocks. */
static bool
plan_by_rows(struct planner *w, uint32_t unit, size_t first, size_t end)
{
    const struct plan_unit *u = &w->plan->units[unit];
    uint32_t after_peak = w->plan->peak_step + 1;
    bool peak_done = false;
    int64_t level = 0;

    w->held_count = 0;
    for (size_t i = first; i < end; i++) {
        if (!peak_done && w->rows[i].interval > after_peak && level != u->peak_bytes)
            return false;
        peak_done = w->rows[i].interval >= after_peak;
        if (!plan_row(w, i, &level))
            return false;
    }
    return level == u->live_bytes && (peak_done || level == u->peak_bytes);
}

/* Create the pieces of UNIT. KEPT bytes are live from the peak to the end. ROW gets the remainder.
 * Return false if there are too few blocks or bytes. */
static bool
add_simple_pieces(struct planner *w, uint32_t unit, int64_t kept, struct row *row)
{
    const struct plan_unit *u = &w->plan->units[unit];
    uint32_t peak_step = w->plan->peak_step, last = (uint32_t)w->plan->step_count - 1;
    const struct {
        uint32_t start, end;
        int64_t bytes;
    } v[] = {{peak_step, PLAN_NONE, kept},
             {peak_step, peak_step + 1, u->peak_bytes - kept},
             {last, PLAN_NONE, u->live_bytes - kept}};
    size_t pieces = w->plan->piece_count;

    row->left_blocks = u->allocations;
    row->left_bytes = u->allocated_bytes;
    for (size_t i = 0; i < countof(v); i++) {
        if (v[i].bytes == 0)
            continue;
        row->left_blocks--;
        row->left_bytes = counters_difference(row->left_bytes, v[i].bytes);
        event_plan_add_piece(w,
                             (struct plan_piece){.unit = unit,
                                                 .start = v[i].start,
                                                 .end = v[i].end,
                                                 .row = (uint32_t)(row - w->rows),
                                                 .bytes = v[i].bytes},
                             false);
    }
    if (row->left_blocks >= (row->left_bytes > 0) && row->left_bytes >= 0)
        return true;
    w->plan->piece_count = pieces;
    return false;
}

/* Plan UNIT without its history. ROW, its first one, represents all. LEAST is the unit's lowest
 * level after the peak. */
static void
plan_simply(struct planner *w, uint32_t unit, struct row *row, int64_t least)
{
    const struct plan_unit *u = &w->plan->units[unit];
    int64_t both = smaller(u->peak_bytes, u->live_bytes);
    int64_t most = smaller(least, both);
    // Lower bound of the bytes in blocks that were live both at the peak and at the end.
    int64_t kept = smaller(event_plan_not_negative(counters_difference(
                               counters_sum(u->peak_bytes, u->live_bytes), u->allocated_bytes)),
                           most);

    row->interval = w->plan->peak_step;
    if (add_simple_pieces(w, unit, most, row) || add_simple_pieces(w, unit, kept, row))
        return;
    // Only a damaged file has such numbers.
    row->left_blocks = row->left_bytes = 0;
    if (u->peak_bytes > 0)
        event_plan_add_piece(w, (struct plan_piece){.unit = unit, .start = w->plan->peak_step,
                                                    .end = w->plan->peak_step + 1,
                                                    .row = (uint32_t)(row - w->rows),
                                                    .bytes = u->peak_bytes}, false);
    if (u->live_bytes > 0)
        event_plan_add_piece(w,
                             (struct plan_piece){.unit = unit,
                                                 .start = (uint32_t)w->plan->step_count - 1,
                                                 .end = PLAN_NONE,
                                                 .row = (uint32_t)(row - w->rows),
                                                 .bytes = u->live_bytes},
                             false);
}

/* Set the churn of UNIT and the numbers of blocks in its pieces, which start at FIRST. Its rows are
 * ROW to END. */
static void
count_blocks(struct planner *w, uint32_t unit, size_t first, size_t row, size_t end)
{
    struct plan *plan = w->plan;
    struct plan_unit *u = &plan->units[unit];
    int64_t spare;

    for (size_t i = row; i < end; i++) {
        u->churn_blocks = counters_sum(u->churn_blocks, w->rows[i].left_blocks);
        u->churn_bytes = counters_sum(u->churn_bytes, w->rows[i].left_bytes);
    }
    spare = event_plan_not_negative(u->churn_blocks - u->temporary);
    for (size_t i = first; i < plan->piece_count; i++) {
        struct plan_piece *piece = &plan->pieces[i];
        struct row *of = &w->rows[piece->row];
        double share = (double)piece->bytes / ((double)u->allocated_bytes + 1e-9);
        // This is at most all allocations; the share in a damaged file may be larger.
        int64_t more =
            (int64_t)((share < 1 ? share : 1) * (double)u->allocations * 0.999999999 + 0.5) - 1;

        more = smaller(smaller(more, of->left_blocks - (of->left_bytes > 0)), spare);
        more = event_plan_not_negative(more);
        piece->blocks = 1 + more;
        of->left_blocks -= more;
        spare -= more;
        u->churn_blocks -= more;
    }
    u->die_at_once = smaller(u->temporary, u->churn_blocks);
    for (size_t i = first; i < plan->piece_count; i++) {
        struct plan_piece *piece = &plan->pieces[i];

        if (u->temporary > u->die_at_once && piece->blocks == 1 && piece->end == piece->start + 1) {
            piece->dies_at_once = true;
            u->temporary--;
        }
    }
    for (size_t i = row; i < end; i++) {
        const struct row *r = &w->rows[i];

        if (r->left_blocks <= 0)
            continue;
        arena_grow(w->arena, &plan->churns, &plan->churn_capacity, plan->churn_count,
                   sizeof *plan->churns);
        plan->churns[plan->churn_count++] = (struct plan_churn){
            unit, r->interval == plan->peak_step + 1 ? plan->peak_step : r->interval,
            r->left_blocks};
    }
}

static void
plan_unit(struct planner *w, uint32_t unit, size_t first, size_t end)
{
    size_t pieces = w->plan->piece_count;
    int64_t sum = 0, level = 0, least = INT64_MAX;
    int64_t spare = w->plan->units[unit].allocations; // In no row; negative: rows have too many.

    for (size_t i = first; i < end; i++) {
        struct row *row = &w->rows[i];

        if (row->interval > w->plan->peak_step + 1)
            least = smaller(least, level);
        sum = counters_sum(sum, row->level);
        row->level = level = event_plan_not_negative(sum);
        row->blocks = event_plan_not_negative(row->blocks);
        row->bytes = event_plan_not_negative(row->bytes);
        spare = spare < 0 ? spare : spare - row->blocks;
        if (row->interval > w->plan->peak_step)
            least = smaller(least, level);
    }
    if (spare < 0 || !plan_by_rows(w, unit, first, end)) {
        w->plan->piece_count = pieces;
        plan_simply(w, unit, &w->rows[first], least);
        end = first + 1;
    }
    count_blocks(w, unit, pieces, first, end);
}

/* Choose a spare block for the marker: a block of churn that need not die at once, or a block of a
 * piece with several blocks. */
static void
choose_marker(struct plan *plan)
{
    int64_t best = 0;
    struct plan_piece *piece = NULL;
    struct plan_churn *churn = NULL;

    for (size_t i = 0; i < plan->churn_count; i++) {
        const struct plan_unit *u = &plan->units[plan->churns[i].unit];
        int64_t spare = smaller(u->churn_blocks - u->die_at_once,
                                u->churn_blocks - (u->churn_bytes > 0));

        if (spare > best) {
            best = spare;
            churn = &plan->churns[i];
        }
    }
    plan->marker = PLAN_NONE;
    if (churn != NULL) {
        churn->blocks--;
        plan->marker = churn->unit;
        plan->units[churn->unit].churn_blocks--;
        return;
    }
    for (size_t i = 0; i < plan->piece_count; i++)
        if (plan->pieces[i].blocks > (piece != NULL ? piece->blocks : 1))
            piece = &plan->pieces[i];
    if (piece != NULL) {
        piece->blocks--;
        plan->marker = piece->unit;
    }
}

/* Sort pieces and churns by step, and store the range of each step. */
static void
sort_pieces(struct planner *w)
{
    struct plan *plan = w->plan;
    size_t starts = 0, ends = 0;

    plan->starting = arena_array(w->arena, plan->piece_count, sizeof *plan->starting);
    plan->ending = arena_array(w->arena, plan->piece_count, sizeof *plan->ending);
    for (size_t i = 0; i < plan->piece_count; i++) {
        plan->steps[plan->pieces[i].start].starts_end++;
        if (plan->pieces[i].end != PLAN_NONE)
            plan->steps[plan->pieces[i].end].ends_end++;
    }
    for (size_t i = 0; i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];

        step->starts = starts;
        step->ends = ends;
        starts += step->starts_end;
        ends += step->ends_end;
        step->starts_end = step->starts;
        step->ends_end = step->ends;
    }
    for (size_t i = 0; i < plan->piece_count; i++) {
        const struct plan_piece *piece = &plan->pieces[i];

        plan->starting[plan->steps[piece->start].starts_end++] = (uint32_t)i;
        if (piece->end != PLAN_NONE)
            plan->ending[plan->steps[piece->end].ends_end++] = (uint32_t)i;
    }
}

/* Compute the room of each step. Return the step with most room. */
static uint32_t
measure_room(struct plan *plan)
{
    int64_t held = 0, most = 0, peak = 0;
    uint32_t best = 0, first = 0;

    for (size_t i = 0; i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];

        for (size_t k = step->ends; k < step->ends_end; k++)
            held = counters_difference(held, plan->pieces[plan->ending[k]].bytes);
        step->room = held;
        for (size_t k = step->starts; k < step->starts_end; k++)
            held = counters_sum(held, plan->pieces[plan->starting[k]].bytes);
        if (held > most) {
            most = held;
            first = (uint32_t)i;
        }
    }
    peak = most;
    for (size_t i = 0; i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];

        // An earlier moment of equal level would become the reader's peak.
        step->room = event_plan_not_negative(counters_difference(peak, step->room) - (i <= first));
        if (step->room > plan->steps[best].room)
            best = (uint32_t)i;
    }
    return best;
}

static int
compare_churns(const void *a, const void *b)
{
    const struct plan_churn *x = a, *y = b;

    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void
sort_churns(struct plan *plan, uint32_t roomiest)
{
    for (size_t i = 0; i < plan->churn_count; i++) {
        struct plan_churn *churn = &plan->churns[i];
        const struct plan_unit *u = &plan->units[churn->unit];

        if (u->churn_blocks > 0 &&
            (u->churn_bytes - 1) / u->churn_blocks + 1 > plan->steps[churn->step].room)
            churn->step = roomiest;
    }
    if (plan->churn_count > 0)
        qsort(plan->churns, plan->churn_count, sizeof *plan->churns, compare_churns);
    for (size_t i = 0, at = 0; i < plan->step_count; i++) {
        plan->steps[i].churns = at;
        while (at < plan->churn_count && plan->churns[at].step == i)
            at++;
        plan->steps[i].churns_end = at;
    }
}

void
event_plan(const struct profile *p, const struct stacks *stacks, struct arena *arena,
           struct plan *ret)
{
    struct planner w = {.p = p, .arena = arena, .plan = ret};
    const uint32_t *of_site;

    *ret = (struct plan){.peak_step = 0};
    // Ignore a merged history: ended processes hold nothing in it, but here they keep their final
    // live amount.
    w.has_history = p->has_history && p->merged_processes == 0;
    of_site = make_units(&w, stacks);
    make_rows(&w, of_site);
    make_steps(&w);
    for (size_t i = 0, end; i < w.row_count; i = end) {
        for (end = i; end < w.row_count && w.rows[end].unit == w.rows[i].unit;)
            end++;
        plan_unit(&w, w.rows[i].unit, i, end);
    }
    choose_marker(ret);
    sort_pieces(&w);
    sort_churns(ret, measure_room(ret));
}

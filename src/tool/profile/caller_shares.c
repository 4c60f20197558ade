/* caller_shares.c: distributes the counts of short stacks over whole stacks
 * (docs/internals/callers.md).
 *
 *     short stack ── same innermost frames ─► whole stacks      a group
 *          │ size class, heap, labels, share of callers         a cell of the group
 *          └► each row and interval: a share for each whole stack of the cell
 *
 * A whole stack's share of a count is its share of the same count among the cell's whole stacks.
 * Counts are whole numbers. So the fractions become boundaries on [0, 1], and a stack gets the
 * integers between its two: the shares of each count add up to it. Rows of threads and intervals
 * of the history continue where the one before ended, so that their shares add up as well.
 *
 * caller_cells.c finds the whole stacks of a short one, caller_history.c divides changes over time,
 * and caller_errors.c computes intervals.
 *
 * The share of allocations with callers may change during a recording. Each share has separate
 * cells, because whole stacks of another share are no random sample.
 *
 * The estimate of frees would be the difference of two large numbers where few blocks live. So live
 * blocks are distributed by live samples, and frees are the rest. */
#include "profile/caller_shares.h"

#include <string.h>

#include "profile/caller_spread.h"
#include "profile/profile_valid.h"
#include "util/ensure.h"

static bool
callers_is_nothing(const struct counters *c)
{
    return (c->allocations | c->allocated_bytes | c->frees | c->freed_bytes | c->peak_blocks |
            c->peak_bytes | c->reallocations | c->moved | c->grown_bytes | c->temporary |
            c->ended_16 | c->ended_256) == 0;
}

/* Distribute K, the counters of THREAD at C's short stack; NO_THREAD: of all, in a model without
 * rows. ROW may be NULL. */
static void
spread_counters(struct spreader *s, struct cell *c, uint32_t thread, struct counters k,
                struct spread_row *row)
{
    struct profile *p = s->p;
    bool has_parts = row != NULL && row->parts != NULL;

    if (has_parts)
        callers_set_parts(c, row, &k);
    for (size_t i = 0; i < c->count; i++) {
        struct counters share = callers_share(c, i, &k);

        if (has_parts) {
            share.allocations = row->parts[i].total[0];
            share.allocated_bytes = row->parts[i].total[1];
            share.frees = row->parts[i].total[2];
            share.freed_bytes = row->parts[i].total[3];
        }
        // The first member keeps the sizes even of a row that only frees.
        if (callers_is_nothing(&share) && i > 0)
            continue;
        if (thread != NO_THREAD) {
            uint32_t to = callers_row(s, thread, c->members[i]);

            if (p->row_counters != NULL)
                counters_add(&p->row_counters[to], &share);
        }
        counters_add(&p->sites[c->members[i]].counters, &share);
    }
    for (int n = 0; n < COLUMNS; n++)
        c->done[n] = counters_sum(c->done[n], callers_value(&k, (enum column)n));
}

/* Return the amounts of C that are distributed so far. */
static struct profile_amounts
amounts_done(const struct cell *c)
{
    return (struct profile_amounts){
        c->done[COLUMN_ALLOCATIONS], c->done[COLUMN_ALLOCATED_BYTES],
        counters_difference(c->done[COLUMN_ALLOCATIONS], c->done[COLUMN_LIVE_BLOCKS]),
        counters_difference(c->done[COLUMN_ALLOCATED_BYTES], c->done[COLUMN_LIVE_BYTES])};
}

static void
spread_rows(struct spreader *s)
{
    struct profile *p = s->p;
    size_t rows = p->thread_site_count;
    struct profile_amounts *before = arena_array(&s->arena, rows, sizeof *before);

    s->row_capacity = s->row_counter_capacity = 0;
    if (p->change_count > 0)
        callers_make_parts(s);
    if (rows > 0) { // Their arrays may have no room left.
        struct profile_thread_site *v = NULL;
        struct counters *counters = NULL;

        arena_grow(&p->arena, &v, &s->row_capacity, rows, sizeof *v);
        memcpy(v, p->thread_sites, rows * sizeof *v);
        p->thread_sites = v;
        if (p->row_counters != NULL) {
            arena_grow(&p->arena, &counters, &s->row_counter_capacity, rows, sizeof *counters);
            memcpy(counters, p->row_counters, rows * sizeof *counters);
            p->row_counters = counters;
        }
    }
    for (size_t i = 0; i < rows; i++)
        *map_put(&s->rows, (uint64_t)p->thread_sites[i].thread << 32 | p->thread_sites[i].site,
                 NULL) = i;
    for (size_t i = 0; i < rows; i++) {
        uint32_t cell = s->cell_of_site[p->thread_sites[i].site];

        if (cell == 0 || s->cells[cell - 1].count == 0)
            continue;
        before[i] = amounts_done(&s->cells[cell - 1]);
        spread_counters(s, &s->cells[cell - 1], p->thread_sites[i].thread,
                        *profile_row_counters(p, i),
                        p->change_count > 0 ? &s->spread_rows[i] : NULL);
    }
    for (size_t i = 0; i < s->cell_count && rows == 0; i++)
        if (s->cells[i].count > 0)
            spread_counters(s, &s->cells[i], NO_THREAD, p->sites[s->cells[i].site].counters, NULL);
    if (p->change_count > 0)
        callers_spread_changes(s, before);
}

/* --- The new arrays --------------------------------------------------------------------------- */

/* Return the sites of P that stay, in an order in which each group is contiguous. *RET_COUNT is
 * their number. */
static uint32_t *
callers_order(struct spreader *s, size_t *ret_count)
{
    const struct profile *p = s->p;
    uint32_t *order = arena_array(&s->arena, p->site_count, sizeof *order);
    uint32_t *last = arena_array(&s->arena, p->node_count, sizeof *last); // By group: site plus 1.
    uint32_t *next = arena_array(&s->arena, p->site_count, sizeof *next); // The group's next site.
    uint32_t *first = arena_array(&s->arena, p->node_count, sizeof *first);
    size_t count = 0;

    for (size_t i = 0; i < p->site_count; i++) {
        uint32_t group = profile_site_errors(p, i)->group;

        if (group == 0)
            continue;
        if (last[group] != 0)
            next[last[group] - 1] = (uint32_t)i + 1;
        else
            first[group] = (uint32_t)i + 1;
        last[group] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < p->site_count; i++) {
        uint32_t group = profile_site_errors(p, i)->group, cell = s->cell_of_site[i];

        if (group == 0 && (cell == 0 || s->cells[cell - 1].count == 0 || s->keep))
            order[count++] = (uint32_t)i;
        if (group == 0 || first[group] != i + 1)
            continue;
        for (uint32_t k = (uint32_t)i + 1; k != 0; k = next[k - 1])
            order[count++] = k - 1;
    }
    *ret_count = count;
    return order;
}

/* Return true if the counts of SITE were distributed. */
static bool
is_spread(const struct spreader *s, uint32_t site)
{
    uint32_t cell = s->cell_of_site[site];

    return cell != 0 && s->cells[cell - 1].count > 0;
}

/* Move the accesses to the new indices TO of their sites. */
static void
rearrange_accesses(struct profile_accesses *a, const uint32_t *to)
{
    for (size_t i = 0; i < a->count; i++)
        a->v[i].site = to[a->v[i].site] - 1;
    for (size_t i = 0; i < a->field_count; i++)
        a->fields[i].site = to[a->fields[i].site] - 1;
    access_sort(a);
}

/* Move P's sites into the order, and drop those whose counts were distributed, with their rows. */
static void
rearrange(struct spreader *s)
{
    struct profile *p = s->p;
    size_t count, rows = 0;
    const uint32_t *order = callers_order(s, &count);
    uint32_t *to = arena_array(&s->arena, p->site_count, sizeof *to); // Plus 1; 0 = dropped.
    uint32_t *row_to = arena_array(&s->arena, p->thread_site_count, sizeof *row_to);
    struct profile_site *sites = arena_array(&p->arena, count, sizeof *sites);
    struct errors *errors = arena_array(&p->arena, count, sizeof *errors);

    for (size_t i = 0; i < count; i++) {
        sites[i] = p->sites[order[i]];
        errors[i] = *profile_site_errors(p, order[i]);
        to[order[i]] = (uint32_t)i + 1;
        if (is_spread(s, order[i]))
            sites[i].counters = COUNTERS_ZERO;
    }
    p->sites = sites;
    p->site_count = count;
    p->site_errors = errors;
    p->site_error_capacity = count;
    for (size_t i = 0; i < p->thread_site_count; i++) {
        uint32_t site = to[p->thread_sites[i].site];

        if (is_spread(s, p->thread_sites[i].site))
            continue;
        p->thread_sites[rows] = (struct profile_thread_site){p->thread_sites[i].thread, site - 1};
        if (p->row_counters != NULL)
            p->row_counters[rows] = p->row_counters[i];
        row_to[i] = (uint32_t)rows++;
    }
    p->thread_site_count = rows;
    for (size_t i = 0; i < p->change_count; i++)
        p->changes[i].thread_site = row_to[p->changes[i].thread_site];
    if (p->accesses.granule_bytes != 0)
        rearrange_accesses(&p->accesses, to);
}

/* Forget the types that only the sizes of a stack's recorded blocks suggested, if its share has
 * other sizes. */
static void
forget_types(struct profile *p)
{
    for (size_t i = 0; i < p->site_count; i++) {
        struct profile_site *s = &p->sites[i];

        if (s->verdict == VERDICT_SAME_SIZE && s->counters.size_min != s->counters.size_max) {
            s->verdict = VERDICT_UNKNOWN;
            s->type = 0;
        }
    }
}

void
callers_spread(struct profile *p, bool keep)
{
    struct spreader s = {.p = p};

    // Accesses are by site, and cannot be divided.
    s.keep = keep || p->accesses.granule_bytes != 0;
    p->has_shares |= callers_find_cells(&s);
    if (s.cell_count > 0) {
        callers_set_errors(&s);
        spread_rows(&s);
        rearrange(&s);
        forget_types(p);
        ENSURE_VALID(profile_sums_are_valid(p));
    }
    map_release(&s.children);
    map_release(&s.cell_of);
    map_release(&s.rows);
    arena_release(&s.arena);
}

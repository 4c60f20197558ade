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
 * The share of allocations with callers may change during a recording. Each share has separate
 * cells, because whole stacks of another share are no random sample.
 *
 * The estimate of frees would be the difference of two large numbers where few blocks live. So live
 * blocks are distributed by live samples, and frees are the rest. */
#include "profile/caller_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/profile_valid.h"
#include "util/ensure.h"

/* Counts that are distributed by separate fractions. */
enum column {
    ALLOCATIONS,
    ALLOCATED_BYTES,
    LIVE_BLOCKS,
    LIVE_BYTES,
    PEAK_BLOCKS,
    PEAK_BYTES,
    REALLOCATIONS,
    MOVED,
    GROWN_BYTES,
    TEMPORARY,
    ENDED_16,
    ENDED_256,
    COLUMNS
};
static_assert((int)PEAK_BYTES == (int)SHARE_PEAK_BYTES, "the columns of shares come first");

/* An entry of a history is split into this many at most. */
enum { CHANGES_MAX = 1 << 23 };

/* Sums above this lose units as doubles; only damaged files have them. */
#define AMOUNT_MAX ((int64_t)1 << 50)

#define NO_THREAD UINT32_MAX

/* The whole stacks of a short one, in one size class, heap, set of labels and share of callers. */
struct cell {
    uint32_t group;
    uint32_t site;                // The short stack's.
    uint32_t *members;            // The whole stacks' sites.
    size_t count, capacity;
    double *boundaries[COLUMNS];  // count + 1 each.
    int64_t done[COLUMNS];        // Distributed so far.
};

enum { AMOUNTS = 4 }; // Members of struct profile_amounts.

/* A member's part of a row: the amounts, and how much of them earlier changes have. */
struct part {
    int64_t total[AMOUNTS], given[AMOUNTS];
};

/* A row of a short stack. PARTS is by member; NULL if its changes do not add up to its counters, as
 * in a damaged file. */
struct spread_row {
    struct part *parts;
    int64_t total[AMOUNTS], done[AMOUNTS];
};

struct spreader {
    struct profile *p;
    bool keep; // Keep the sites of short stacks.
    struct arena arena;
    bool *is_short;      // By node: of a short stack.
    struct map children; // The tree of sites: place and location to the caller's place.
    uint32_t *groups;    // By place: its group, 0 = none.
    size_t place_capacity, place_count;
    uint32_t *group_of;  // By node of a whole stack: its group, plus 1; 0 = not yet known.
    struct cell *cells;
    size_t cell_count, cell_capacity;
    struct map cell_of;  // cell_key to cell.
    uint32_t *cell_of_site; // By site of a short stack: cell plus 1.
    struct map rows;     // Thread and site to row.
    size_t row_capacity, row_counter_capacity;
    struct spread_row *spread_rows; // By row of the profile; NULL without a history.
    double *weights;                // Room for two numbers by member.
    int64_t *shares;                // Room for AMOUNTS numbers by member.
    struct profile_change *changes;
    size_t change_count, change_capacity;
};

int64_t
callers_cut(double boundary, int64_t amount)
{
    double below;

    if (!(boundary > 0))
        return 0;
    if (boundary >= 1)
        return amount;
    below = floor(boundary * (double)amount);
    if (below >= 9.2e18 || below <= -9.2e18) // Only a damaged file has such counts.
        return amount;
    return (int64_t)below;
}

/* --- Groups and cells ------------------------------------------------------------------------- */

/* Mark the nodes of short stacks, and their locations. Return true if there are any. */
static bool
find_short(struct spreader *s)
{
    struct profile *p = s->p;
    bool any = false;

    s->is_short = arena_alloc(&s->arena, p->node_count);
    for (size_t i = 1; i < p->node_count; i++) {
        const struct profile_node *n = &p->nodes[i];

        if ((n->flags & NODE_CALLERLESS) || s->is_short[n->parent]) {
            s->is_short[i] = true;
            p->locations[n->location].of_site = true;
            any = true;
        }
    }
    return any;
}

/* Return the place outside PLACE for LOCATION; 0 if there is none and MAKE is false. */
static uint32_t
callers_place(struct spreader *s, uint32_t place, uint32_t location, bool make)
{
    uint64_t key = (uint64_t)place << 32 | location;
    const uint64_t *known = map_get(&s->children, key);
    bool is_new;

    if (known != NULL || !make)
        return known != NULL ? (uint32_t)*known : 0;
    arena_grow(&s->arena, &s->groups, &s->place_capacity, s->place_count, sizeof *s->groups);
    s->groups[s->place_count] = 0;
    *map_put(&s->children, key, &is_new) = s->place_count;
    return (uint32_t)s->place_count++;
}

/* Return the group of the short stack NODE, made if it is new. */
static uint32_t
group_of_short(struct spreader *s, uint32_t node)
{
    uint32_t place = 0;

    for (uint32_t at = node; at != 0; at = s->p->nodes[at].parent)
        place = callers_place(s, place, s->p->nodes[at].location, true);
    if (s->groups[place] == 0)
        s->groups[place] = node;
    return s->groups[place];
}

/* Return the group of the whole stack NODE; 0 = none. The frames of languages are no part of a
 * site. */
static uint32_t
group_of_whole(struct spreader *s, uint32_t node)
{
    const struct profile *p = s->p;
    uint32_t place = 0, group = 0;

    if (s->group_of[node] != 0)
        return s->group_of[node] - 1;
    for (uint32_t at = node; at != 0; at = p->nodes[at].parent) {
        uint32_t location = p->nodes[at].location;

        if (profile_language(p, &p->locations[location]) != 0)
            continue;
        place = callers_place(s, place, location, false);
        if (place == 0)
            break;
        if (s->groups[place] != 0)
            group = s->groups[place];
    }
    s->group_of[node] = group + 1;
    return group;
}

/* Return the cell of SITE in GROUP, made if MAKE; else NULL if there is none. All its
 * blocks have one share of callers, since whole stacks of another share are no random sample. */
static struct cell *
callers_cell(struct spreader *s, uint32_t group, const struct profile_site *site, bool make)
{
    // The loader limits label sets to 2^13, and heaps to 2^12.
    uint64_t key = (uint64_t)group << 32 | (uint64_t)site->callers << 28 |
                   (uint64_t)site->size_class << 25 | (uint64_t)site->heap << 13 | site->labels;
    uint64_t *known = map_get(&s->cell_of, key);
    bool is_new;

    if (known != NULL || !make)
        return known != NULL ? &s->cells[*known] : NULL;
    arena_grow(&s->arena, &s->cells, &s->cell_capacity, s->cell_count, sizeof *s->cells);
    s->cells[s->cell_count] = (struct cell){.group = group};
    *map_put(&s->cell_of, key, &is_new) = s->cell_count;
    return &s->cells[s->cell_count++];
}

/* Return the counts of SITE that whole stacks recorded, without estimates of samples. */
static int64_t
sampled_allocations(const struct profile *p, size_t site)
{
    return counters_difference(p->sites[site].counters.allocations,
                               (int64_t)profile_site_errors(p, site)->allocated.blocks);
}

/* Find the cells, and the whole stacks of each. */
static void
find_cells(struct spreader *s)
{
    struct profile *p = s->p;

    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];

        if (s->is_short[site->node] && site->callers != 0) {
            struct cell *c = callers_cell(s, group_of_short(s, site->node), site, true);

            c->site = (uint32_t)i;
            s->cell_of_site[i] = (uint32_t)(c - s->cells) + 1;
        }
    }
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        uint32_t group = s->is_short[site->node] || site->callers == 0
                             ? 0
                             : group_of_whole(s, site->node);
        struct cell *c = group != 0 ? callers_cell(s, group, site, false) : NULL;

        if (c == NULL || sampled_allocations(p, i) <= 0)
            continue;
        arena_grow(&s->arena, &c->members, &c->capacity, c->count, sizeof *c->members);
        c->members[c->count++] = (uint32_t)i;
    }
}

/* --- Fractions -------------------------------------------------------------------------------- */

static int64_t
callers_value(const struct counters *c, enum column column)
{
    switch (column) {
    case ALLOCATIONS:
        return c->allocations;
    case ALLOCATED_BYTES:
        return c->allocated_bytes;
    case LIVE_BLOCKS:
        return counters_live_blocks(c);
    case LIVE_BYTES:
        return counters_live_bytes(c);
    case PEAK_BLOCKS:
        return c->peak_blocks;
    case PEAK_BYTES:
        return c->peak_bytes;
    case REALLOCATIONS:
        return c->reallocations;
    case MOVED:
        return c->moved;
    case GROWN_BYTES:
        return c->grown_bytes;
    case TEMPORARY:
        return c->temporary;
    case ENDED_16:
        return c->ended_16;
    case ENDED_256:
        return c->ended_256;
    default:
        return 0;
    }
}

/* Return how many blocks decide the fraction of COLUMN at member I of C. */
static double
callers_sampled(const struct spreader *s, const struct cell *c, size_t i, enum column column)
{
    int64_t value = callers_value(&s->p->sites[c->members[i]].counters, column);

    return value > 0 ? (double)value : 0;
}

/* Lower the fractions of live blocks, so that no stack has more of them than allocations. */
static void
bound_live(const struct spreader *s, const struct cell *c, double *live, const double *all,
           enum column of_live)
{
    const struct counters *k = &s->p->sites[c->site].counters;
    double limit = (double)callers_value(k, (enum column)(of_live - 2)), sum = 0;
    double amount = (double)callers_value(k, of_live);

    for (size_t i = 0; i < c->count; i++) {
        double most = amount > 0 ? all[i] * limit / amount : 1;

        if (live[i] > most)
            live[i] = most;
        sum += live[i];
    }
    for (size_t i = 0; i < c->count && sum < 1; i++) { // The rest, to where there is room.
        double most = amount > 0 ? all[i] * limit / amount : 1;
        double more = most - live[i] < 1 - sum ? most - live[i] : 1 - sum;

        if (more > 0) {
            live[i] += more;
            sum += more;
        }
    }
}

/* Compute the fractions of C's members of COLUMN: FRACTIONS[i]. ALL are for a count without whole
 * stacks. */
static void
take_fractions(const struct spreader *s, const struct cell *c, enum column column,
               const double *all, double *fractions)
{
    double sum = 0;

    for (size_t i = 0; i < c->count; i++)
        sum += callers_sampled(s, c, i, column);
    for (size_t i = 0; i < c->count; i++)
        fractions[i] = sum > 0 ? callers_sampled(s, c, i, column) / sum : all[i];
    if ((column == LIVE_BLOCKS || column == LIVE_BYTES) && sum > 0)
        bound_live(s, c, fractions, all, column);
}

static void
take_boundaries(struct spreader *s, struct cell *c)
{
    double *fractions[COLUMNS] = {NULL};

    for (int k = 0; k < COLUMNS; k++) {
        // Bytes are rather distributed like other bytes.
        const double *all = k == LIVE_BYTES || k == PEAK_BYTES || k == GROWN_BYTES
                                ? fractions[ALLOCATED_BYTES]
                                : fractions[ALLOCATIONS];
        double *b = arena_array(&s->arena, c->count + 1, sizeof *b);

        fractions[k] = arena_array(&s->arena, c->count, sizeof *fractions[k]);
        take_fractions(s, c, (enum column)k, all, fractions[k]);
        for (size_t i = 0; i < c->count; i++)
            b[i + 1] = b[i] + fractions[k][i];
        b[c->count] = 1;
        c->boundaries[k] = b;
    }
}

/* Return member I's share of AMOUNT in COLUMN of C, which DONE was distributed before. */
static int64_t
share_of(const struct cell *c, size_t i, enum column column, int64_t done, int64_t amount)
{
    const double *b = c->boundaries[column];
    int64_t after = counters_sum(done, amount);

    return counters_difference(
        counters_difference(callers_cut(b[i + 1], after), callers_cut(b[i], after)),
        counters_difference(callers_cut(b[i + 1], done), callers_cut(b[i], done)));
}

/* --- Distribution ----------------------------------------------------------------------------- */

/* Return member I's share of K, the counters of a row at C's short stack. */
static struct counters
counters_share(const struct cell *c, size_t i, const struct counters *k)
{
    struct counters r = {.size_min = k->size_min,
                         .size_max = k->size_max,
                         .partial = k->partial,
                         .lifetimes_unknown = k->lifetimes_unknown};
    int64_t v[COLUMNS];

    for (int n = 0; n < COLUMNS; n++)
        v[n] = share_of(c, i, (enum column)n, c->done[n], callers_value(k, (enum column)n));
    r.allocations = v[ALLOCATIONS];
    r.allocated_bytes = v[ALLOCATED_BYTES];
    r.frees = counters_difference(v[ALLOCATIONS], v[LIVE_BLOCKS]);
    r.freed_bytes = counters_difference(v[ALLOCATED_BYTES], v[LIVE_BYTES]);
    r.peak_blocks = v[PEAK_BLOCKS];
    r.peak_bytes = v[PEAK_BYTES];
    r.reallocations = v[REALLOCATIONS];
    r.moved = v[MOVED];
    r.grown_bytes = v[GROWN_BYTES];
    r.temporary = v[TEMPORARY];
    r.ended_16 = v[ENDED_16];
    r.ended_256 = v[ENDED_256];
    return r;
}

static bool
callers_is_nothing(const struct counters *c)
{
    return (c->allocations | c->allocated_bytes | c->frees | c->freed_bytes | c->peak_blocks |
            c->peak_bytes | c->reallocations | c->moved | c->grown_bytes | c->temporary |
            c->ended_16 | c->ended_256) == 0;
}

/* Return the row of THREAD at SITE, made if it is new. */
static uint32_t
callers_row(struct spreader *s, uint32_t thread, uint32_t site)
{
    struct profile *p = s->p;
    bool is_new;
    uint64_t *known = map_put(&s->rows, (uint64_t)thread << 32 | site, &is_new);

    if (!is_new)
        return (uint32_t)*known;
    *known = p->thread_site_count;
    arena_grow(&p->arena, &p->thread_sites, &s->row_capacity, p->thread_site_count,
               sizeof *p->thread_sites);
    p->thread_sites[p->thread_site_count] = (struct profile_thread_site){thread, site};
    if (p->row_counters != NULL) {
        arena_grow(&p->arena, &p->row_counters, &s->row_counter_capacity, p->thread_site_count,
                   sizeof *p->row_counters);
        p->row_counters[p->thread_site_count] = COUNTERS_ZERO;
    }
    return (uint32_t)p->thread_site_count++;
}

/* Append the amounts R of member I to the changes of THREAD at INTERVAL. */
static void
append_change(struct spreader *s, const struct cell *c, size_t i, uint32_t thread,
              uint32_t interval, const struct profile_amounts *r)
{
    if ((r->allocations | r->allocated_bytes | r->frees | r->freed_bytes) == 0 ||
        s->change_count == CHANGES_MAX)
        return;
    arena_grow(&s->p->arena, &s->changes, &s->change_capacity, s->change_count,
               sizeof *s->changes);
    s->changes[s->change_count++] =
        (struct profile_change){callers_row(s, thread, c->members[i]), interval, *r};
}

/* Append member I's part of CHANGE, of a row of THREAD in C. BEFORE has the amounts of the row
 * before it. */
static void
change_share(struct spreader *s, const struct cell *c, size_t i, uint32_t thread,
             const struct profile_change *change, const struct profile_amounts *before)
{
    const struct profile_amounts *a = &change->amounts;
    struct profile_amounts r;

    r.allocations = share_of(c, i, ALLOCATIONS, before->allocations, a->allocations);
    r.allocated_bytes =
        share_of(c, i, ALLOCATED_BYTES, before->allocated_bytes, a->allocated_bytes);
    r.frees = counters_difference(
        r.allocations,
        share_of(c, i, LIVE_BLOCKS, counters_difference(before->allocations, before->frees),
                 counters_difference(a->allocations, a->frees)));
    r.freed_bytes = counters_difference(
        r.allocated_bytes,
        share_of(c, i, LIVE_BYTES,
                 counters_difference(before->allocated_bytes, before->freed_bytes),
                 counters_difference(a->allocated_bytes, a->freed_bytes)));
    append_change(s, c, i, thread, change->interval, &r);
}

/* Divide AMOUNT in proportion to the N WEIGHTS, whose sum is SUM, into RET: whole numbers, none
 * above its weight rounded up. */
static void
divide_amount(int64_t amount, const double *weights, double sum, size_t n, int64_t *ret)
{
    double end = 0, scale = sum > 0 ? (double)amount / sum : 0;
    int64_t below = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t next;

        end += weights[i];
        // The sum of the weights is rounded as END is, so the last one gets the rest.
        next = end >= sum ? amount : (int64_t)floor(end * scale);
        ret[i] = next - below;
        below = next;
    }
}

/* Return the amount K that PART has to get of ROW, so that all changes up to now are divided as the
 * row is. */
static double
part_lacks(const struct spread_row *row, const struct part *part, int k, int64_t amount)
{
    double lacks = (double)part->total[k] * (double)(row->done[k] + amount) /
                       (double)(row->total[k] > 0 ? row->total[k] : 1) -
                   (double)part->given[k];
    double left = (double)(part->total[k] - part->given[k]);

    return row->done[k] + amount == row->total[k] ? left : fmin(fmax(lacks, 0), left);
}

/* Divide AMOUNT, the amount K of a change of ROW, between the N parts: into RET, by part. No part
 * frees more than it has, and bytes follow blocks, as far as the totals permit it. */
static void
divide_change(struct spreader *s, struct spread_row *row, size_t n, int k, int64_t amount,
              const int64_t *blocks, int64_t *ret)
{
    double *weights = s->weights, *best = weights + n, sum = 0, best_sum = 0;

    for (size_t i = 0; i < n; i++) {
        const struct part *part = &row->parts[i];
        double live = (double)(part->given[k % 2] - part->given[k % 2 + 2]);

        weights[i] = part_lacks(row, part, k, amount);
        best[i] = k >= 2 ? fmin(weights[i], fmax(live, 0)) : weights[i];
        if (blocks != NULL && blocks[i] == 0)
            best[i] = 0;
        sum += weights[i];
        best_sum += best[i];
    }
    if (best_sum >= (double)amount && row->done[k] + amount != row->total[k])
        divide_amount(amount, best, best_sum, n, ret);
    else
        divide_amount(amount, weights, sum, n, ret);
    for (size_t i = 0; i < n; i++)
        row->parts[i].given[k] += ret[i];
    row->done[k] += amount;
}

/* Store A by index: allocations and their bytes, frees and their bytes. */
static void
amounts_array(const struct profile_amounts *a, int64_t ret[AMOUNTS])
{
    ret[0] = a->allocations;
    ret[1] = a->allocated_bytes;
    ret[2] = a->frees;
    ret[3] = a->freed_bytes;
}

/* Append the parts of CHANGE, of ROW of THREAD in C. */
static void
change_parts(struct spreader *s, const struct cell *c, struct spread_row *row, uint32_t thread,
             const struct profile_change *change)
{
    int64_t amounts[AMOUNTS], *v = s->shares;

    amounts_array(&change->amounts, amounts);
    for (int k = 0; k < AMOUNTS; k++)
        divide_change(s, row, c->count, k, amounts[k],
                      k % 2 == 1 ? v + (size_t)(k - 1) * c->count : NULL,
                      v + (size_t)k * c->count);
    for (size_t i = 0; i < c->count; i++)
        append_change(s, c, i, thread, change->interval,
                      &(struct profile_amounts){v[i], v[c->count + i], v[2 * c->count + i],
                                                v[3 * c->count + i]});
}

/* Set PARTS of the rows whose changes add up to their counters and are counts of events. */
static void
make_parts(struct spreader *s)
{
    struct profile *p = s->p;
    bool *bad = arena_array(&s->arena, p->thread_site_count, sizeof *bad);
    size_t most = 0;

    s->spread_rows = arena_array(&s->arena, p->thread_site_count, sizeof *s->spread_rows);
    for (size_t n = 0; n < p->change_count; n++) {
        uint32_t row = p->changes[n].thread_site;
        int64_t amounts[AMOUNTS];

        amounts_array(&p->changes[n].amounts, amounts);
        for (int k = 0; k < AMOUNTS; k++) {
            int64_t *total = &s->spread_rows[row].total[k];

            bad[row] |= amounts[k] < 0 || amounts[k] > AMOUNT_MAX || *total > AMOUNT_MAX;
            *total = counters_sum(*total, amounts[k]);
        }
    }
    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct counters *k = profile_row_counters(p, i);
        const int64_t wanted[] = {k->allocations, k->allocated_bytes, k->frees, k->freed_bytes};
        uint32_t cell = s->cell_of_site[p->thread_sites[i].site];
        size_t count = cell != 0 ? s->cells[cell - 1].count : 0;

        if (count > 0 && !bad[i] && memcmp(wanted, s->spread_rows[i].total, sizeof wanted) == 0)
            s->spread_rows[i].parts =
                arena_array(&s->arena, count, sizeof *s->spread_rows[i].parts);
        most = count > most ? count : most;
    }
    s->weights = arena_array(&s->arena, 2 * most, sizeof *s->weights);
    s->shares = arena_array(&s->arena, AMOUNTS * most, sizeof *s->shares);
}

/* Make the frees of column K in PARTS, whose sum is that of the row, not negative: parts with too
 * many give some to the others. */
static void
raise_frees(struct part *parts, size_t n, int k)
{
    int64_t lacking = 0;

    for (size_t i = 0; i < n; i++)
        if (parts[i].total[k] < 0) {
            lacking -= parts[i].total[k];
            parts[i].total[k] = 0;
        }
    for (size_t i = 0; i < n && lacking > 0; i++) {
        int64_t taken = parts[i].total[k] < lacking ? parts[i].total[k] : lacking;

        parts[i].total[k] -= taken;
        lacking -= taken;
    }
}

/* Set the totals of ROW's parts from the shares of K, the row's counters in C. */
static void
set_parts(const struct cell *c, struct spread_row *row, const struct counters *k)
{
    for (size_t i = 0; i < c->count; i++) {
        struct counters share = counters_share(c, i, k);
        const int64_t total[] = {share.allocations, share.allocated_bytes, share.frees,
                                 share.freed_bytes};

        memcpy(row->parts[i].total, total, sizeof total);
    }
    for (int n = 0; n < AMOUNTS; n++)
        raise_frees(row->parts, c->count, n);
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
        set_parts(c, row, &k);
    for (size_t i = 0; i < c->count; i++) {
        struct counters share = counters_share(c, i, &k);

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
        c->done[ALLOCATIONS], c->done[ALLOCATED_BYTES],
        counters_difference(c->done[ALLOCATIONS], c->done[LIVE_BLOCKS]),
        counters_difference(c->done[ALLOCATED_BYTES], c->done[LIVE_BYTES])};
}

static int
compare_changes(const void *a, const void *b)
{
    const struct profile_change *x = a, *y = b;

    if (x->thread_site != y->thread_site)
        return x->thread_site < y->thread_site ? -1 : 1;
    return x->interval < y->interval ? -1 : x->interval > y->interval;
}

/* Replace the changes of rows at distributed short stacks by changes of their members. BEFORE has,
 * by row, the amounts distributed before it. */
static void
spread_changes(struct spreader *s, struct profile_amounts *before)
{
    struct profile *p = s->p;

    qsort(p->changes, p->change_count, sizeof *p->changes, compare_changes);
    for (size_t n = 0; n < p->change_count; n++) {
        const struct profile_change *change = &p->changes[n];
        uint32_t row = change->thread_site, cell = s->cell_of_site[p->thread_sites[row].site];
        const struct cell *c = cell != 0 ? &s->cells[cell - 1] : NULL;

        if (c == NULL || c->count == 0) {
            arena_grow(&p->arena, &s->changes, &s->change_capacity, s->change_count,
                       sizeof *s->changes);
            s->changes[s->change_count++] = *change;
            continue;
        }
        if (s->spread_rows[row].parts != NULL)
            change_parts(s, c, &s->spread_rows[row], p->thread_sites[row].thread, change);
        for (size_t i = 0; i < c->count && s->spread_rows[row].parts == NULL; i++)
            change_share(s, c, i, p->thread_sites[row].thread, change, &before[row]);
        profile_amounts_add(&before[row], &change->amounts);
    }
    p->changes = s->changes;
    p->change_count = s->change_count;
    if (s->change_count >= CHANGES_MAX) {
        p->has_history = false;
        p->change_count = 0;
    }
}

static void
spread_rows(struct spreader *s)
{
    struct profile *p = s->p;
    size_t rows = p->thread_site_count;
    struct profile_amounts *before = arena_array(&s->arena, rows, sizeof *before);

    s->row_capacity = s->row_counter_capacity = 0;
    if (p->change_count > 0)
        make_parts(s);
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
        spread_changes(s, before);
}

/* --- Errors ----------------------------------------------------------------------------------- */

/* Return an upper bound of the sum of squares of BLOCKS sizes with the sum BYTES, in the range of
 * C. It is exact if all sizes are equal. */
static double
squares_of(const struct counters *c, double blocks, double bytes)
{
    double low = c->size_min <= c->size_max ? (double)c->size_min : 0;
    double squares = bytes * (low + (double)c->size_max) - blocks * low * (double)c->size_max;

    return squares > 0 ? squares : 0;
}

/* The shares of a cell's members of one counter. */
struct sample_of {
    enum column blocks, column;
    double samples;  // Blocks with whole stacks.
    double weight;   // Blocks without, for each of them.
    double factor;   // Variance for each square of a sample.
    int64_t amount;  // Amount without.
};

/* Return member I's squares by O. */
static double
squares_at(const struct spreader *s, const struct cell *c, size_t i, const struct sample_of *o,
           const struct counters *own)
{
    double blocks = callers_sampled(s, c, i, o->blocks), whole = (double)o->amount;
    const double *b = c->boundaries[o->column];

    if (o->samples == 0) // Any share is possible.
        return whole * whole * (b[i + 1] - b[i]);
    if (o->blocks == o->column)
        return o->factor * blocks;
    return o->factor * squares_of(own, blocks, callers_sampled(s, c, i, o->column));
}

/* Return how C's members sample COLUMN. */
static struct sample_of
sample_of(const struct spreader *s, const struct cell *c, enum column column)
{
    const struct counters *k = &s->p->sites[c->site].counters;
    struct sample_of o = {.blocks = (enum column)(column - column % 2), .column = column};
    double others = (double)callers_value(k, o.blocks);

    o.amount = callers_value(k, column);
    for (size_t i = 0; i < c->count; i++)
        o.samples += callers_sampled(s, c, i, o.blocks);
    if (o.samples > 0 && others > 0) {
        o.weight = others / o.samples;
        o.factor = o.weight * (others + o.samples) / o.samples;
    }
    if (o.amount < 0 || others <= 0) // Nothing was distributed, or nonsense.
        o.amount = 0;
    return o;
}

/* The largest unit of a share of callers, and the largest of all other shares. */
struct units {
    double largest, second;
    uint32_t callers; // The share of the largest.
};

static void
units_add(struct units *u, uint32_t callers, double unit)
{
    if (unit > u->largest) {
        if (callers != u->callers)
            u->second = u->largest;
        u->largest = unit;
        u->callers = callers;
    } else if (callers != u->callers && unit > u->second) {
        u->second = unit;
    }
}

/* The sums of a group. */
struct group_sums {
    struct share shares[SHARES];
    double left[SHARES]; // Of cells without whole stacks: not distributed.
    struct units units[DISK_SIZE_CLASSES][SHARES];
};

/* Set the errors of COLUMN at C's members, and add to the group's *SUMS. */
static void
set_column(struct spreader *s, const struct cell *c, enum column column, struct group_sums *sums)
{
    struct sample_of o = sample_of(s, c, column);
    const struct profile_site *whole = &s->p->sites[c->site];
    struct share *total = &sums->shares[column];
    double largest = o.blocks == column ? 1 : (double)whole->counters.size_max;

    if (o.amount == 0)
        return;
    total->whole += (double)o.amount;
    units_add(&sums->units[whole->size_class][column], whole->callers,
              o.samples > 0 ? o.weight * largest : (double)o.amount);
    for (size_t i = 0; i < c->count; i++) {
        const struct counters *own = &s->p->sites[c->members[i]].counters;
        struct errors *e = profile_change_site_errors(s->p, c->members[i]);
        struct share *share = &e->shares[column];
        double size = o.blocks == column ? 1 : (double)own->size_max;

        e->group = c->group;
        share->samples = callers_sampled(s, c, i, o.blocks);
        share->unit = o.samples > 0 ? o.weight * size : (double)o.amount;
        share->open = (double)share_of(c, i, column, 0, o.amount);
        share->squares = squares_at(s, c, i, &o, own);
        total->all_squares += share->squares;
    }
}

/* Set the errors of SITE by the SUMS of its group. A stack may have samples with one share of
 * callers and none with another, so the largest unit of the others is a possible error. */
static void
set_sums(struct spreader *s, size_t site, uint32_t group, const struct group_sums *sums)
{
    struct errors *e = profile_change_site_errors(s->p, site);
    const struct profile_site *at = &s->p->sites[site];

    e->group = group;
    for (int k = 0; k < SHARES; k++) {
        const struct units *u = &sums->units[at->size_class][k];
        double missed = u->callers == at->callers ? u->second : u->largest;

        if (missed > e->shares[k].unit)
            e->shares[k].unit = missed;
        e->shares[k].whole = sums->shares[k].whole;
        e->shares[k].all_squares = sums->shares[k].all_squares;
        e->shares[k].open_left = sums->left[k];
    }
}

/* Set the errors of all shares, before anything is distributed. The sums of a group include all its
 * cells, whose stacks views add up. */
static void
set_errors(struct spreader *s)
{
    struct group_sums *totals = arena_array(&s->arena, s->cell_count, sizeof *totals);
    uint32_t *total_of = arena_array(&s->arena, s->p->node_count, sizeof *total_of); // By group.
    uint32_t count = 0;

    for (size_t i = 0; i < s->cell_count; i++) {
        struct cell *c = &s->cells[i];

        if (total_of[c->group] == 0)
            total_of[c->group] = ++count;
        if (c->count == 0)
            shares_add_counters(totals[total_of[c->group] - 1].left,
                                &s->p->sites[c->site].counters);
        for (int k = 0; k < SHARES && c->count > 0; k++)
            set_column(s, c, (enum column)k, &totals[total_of[c->group] - 1]);
    }
    for (size_t i = 0; i < s->p->site_count; i++) {
        const struct profile_site *site = &s->p->sites[i];
        uint32_t group = s->is_short[site->node] || site->heap != 0
                             ? 0
                             : group_of_whole(s, site->node);

        if (group != 0 && total_of[group] != 0)
            set_sums(s, i, group, &totals[total_of[group] - 1]);
    }
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
    struct spreader s = {.p = p, .place_count = 1};

    // Accesses are by site, and cannot be divided.
    s.keep = keep || p->accesses.granule_bytes != 0;
    if (find_short(&s)) {
        s.groups = arena_array(&s.arena, 1, sizeof *s.groups);
        s.place_capacity = 1;
        s.group_of = arena_array(&s.arena, p->node_count, sizeof *s.group_of);
        s.cell_of_site = arena_array(&s.arena, p->site_count, sizeof *s.cell_of_site);
        find_cells(&s);
        for (size_t i = 0; i < s.cell_count; i++) {
            p->has_callerless |= s.cells[i].count == 0;
            if (s.cells[i].count > 0)
                take_boundaries(&s, &s.cells[i]);
        }
        p->has_shares = true;
    }
    if (s.cell_count > 0) {
        set_errors(&s);
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

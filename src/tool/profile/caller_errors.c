/* caller_errors.c: errors of the counts that callers_spread distributes.
 *
 * The members of a cell are a random sample of its blocks, so the error of a share follows from the
 * number and the sizes of the sampled blocks (docs/internals/callers.md). Stacks that got no sample
 * may still have blocks; the largest unit of a share bounds these. */
#include "format/format.h"
#include "profile/caller_spread.h"

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
    double factor;   // Variance of the estimate, divided by the sum of the squared samples.
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
    double left[SHARES]; // Counts of cells without whole stacks, which are not distributed.
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
        share->open = (double)callers_share_of(c, i, column, 0, o.amount);
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

void
callers_set_errors(struct spreader *s)
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
                             : callers_group_of_whole(s, site->node);

        if (group != 0 && total_of[group] != 0)
            set_sums(s, i, group, &totals[total_of[group] - 1]);
    }
}

/* thread_shares.c: charge live bytes to threads.
 *
 * A row of the file belongs to a thread and a site. An allocation counts in the row of the
 * allocating thread and a free in the row of the freeing thread, because that costs the program
 * nothing. If threads free each other's blocks, allocated minus freed is not the live amount of any
 * thread: a thread that only frees goes negative, and a producer seems to hold every item it ever
 * queued.
 *
 * Over all threads, a site's live bytes are exact, and so are the bytes that each thread allocated
 * there. So live bytes are charged to allocating threads, site by site:
 *
 *     no thread freed more than it allocated        each thread holds its own remainder
 *     some did, so they freed for others            live bytes belong to the threads that
 *                                                   allocated more than they freed; to several
 *                                                   in proportion to their surplus
 *
 * The first case is exact if threads free only their own blocks. If two threads exchange and free
 * equal amounts, the counters and the result are the same. The second case is exact if only one
 * thread allocates at the site, as when producers and consumers run different code. Otherwise it is
 * an estimate, and live_is_shared is set. Sums over all threads are preserved, and no thread goes
 * negative.
 *
 * Between two moments, live bytes are growth. A thread that frees its own older blocks has a
 * negative growth, which is indistinguishable from freeing for others. If a site shrank, the
 * threads that freed there are charged. */
#include "analyse/totals.h"

/* State of distributing one value (such as live bytes) of all rows at a site. */
struct charge {
    int64_t surplus, deficit; // Sums of positive values, and of negative values negated.
    int64_t passed, given;    // Values of the larger sign so far, and their results.
};

/* VALUE_MAX: sums of larger values would overflow. Only a damaged file has larger values. */
#define VALUE_MAX ((int64_t)1 << 61)

static int64_t
thread_shares_believable(int64_t value)
{
    return value > VALUE_MAX ? VALUE_MAX : value < -VALUE_MAX ? -VALUE_MAX : value;
}

static void
charge_look(struct charge *c, int64_t value)
{
    if (value > 0)
        c->surplus = thread_shares_believable(c->surplus + thread_shares_believable(value));
    else
        c->deficit = thread_shares_believable(c->deficit - thread_shares_believable(value));
}

/* Return the value to charge to a row with VALUE. If the rows' values have both signs, rows of the
 * sign with the smaller sum get 0, and this sum reduces the other rows in proportion. Each row gets
 * the rounded cumulative share minus all earlier results, so that the results of all rows have the
 * same sum as their values. */
static int64_t
charge_take(struct charge *c, int64_t value)
{
    bool is_surplus = c->surplus >= c->deficit;
    int64_t whole = is_surplus ? c->surplus : c->deficit;
    int64_t rest = is_surplus ? c->surplus - c->deficit : c->deficit - c->surplus;
    int64_t given = c->given;

    if (c->surplus == 0 || c->deficit == 0)
        return value;
    if ((value > 0) != is_surplus || value == 0)
        return 0;
    value = thread_shares_believable(value);
    c->passed = thread_shares_believable(c->passed + (value > 0 ? value : -value));
    c->given = (int64_t)((__int128)c->passed * rest / whole);
    return is_surplus ? c->given - given : given - c->given;
}

/* Values of a site's rows that are charged: the last counters of enum share_of. */
enum value { LIVE_BLOCKS, LIVE_BYTES, PEAK_BLOCKS, PEAK_BYTES, VALUES };
static_assert((int)SHARE_LIVE_BLOCKS + (int)VALUES == (int)SHARES, "the last counters");

static int64_t
thread_shares_value_of(const struct counters *c, enum value value)
{
    return counters_value(c, (enum share_of)((int)SHARE_LIVE_BLOCKS + (int)value));
}

struct site {
    struct charge charges[VALUES];
    uint32_t rows; // Number of rows that allocated.
};

static struct site *
look_at_sites(const struct profile *p, struct arena *arena)
{
    struct site *sites = arena_array(arena, p->site_count, sizeof *sites);

    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct profile_thread_site *row = &p->thread_sites[i];
        const struct counters *c = profile_row_counters(p, i);
        struct site *s = &sites[row->site];

        s->rows += c->allocations != 0;
        for (enum value v = 0; v < VALUES; v++)
            charge_look(&s->charges[v], thread_shares_value_of(c, v));
    }
    return sites;
}

/* Return C, the counters of a row at S, with the live and peak amounts of its thread's
 * allocations. */
static struct counters
charged(struct site *s, const struct counters *c)
{
    struct counters r = *c;
    int64_t values[VALUES];

    for (enum value v = 0; v < VALUES; v++)
        values[v] = charge_take(&s->charges[v], thread_shares_value_of(c, v));
    r.frees = counters_difference(c->allocations, values[LIVE_BLOCKS]);
    r.freed_bytes = counters_difference(c->allocated_bytes, values[LIVE_BYTES]);
    r.peak_blocks = values[PEAK_BLOCKS];
    r.peak_bytes = values[PEAK_BYTES];
    return r;
}

/* Return true if some thread freed for others at S, and several threads allocated there, so that
 * the owner of the remaining blocks is uncertain. */
static bool
thread_shares_is_shared(const struct site *s, enum value value)
{
    const struct charge *c = &s->charges[value];

    return s->rows > 1 && c->deficit != 0 && c->surplus > c->deficit;
}

static int64_t
below_zero(int64_t value)
{
    return value < 0 ? counters_difference(0, value) : 0;
}

void
threads_charge(const struct profile *p, const struct stacks *stacks, struct arena *arena,
               struct thread_shares *ret)
{
    struct site *sites = look_at_sites(p, arena);

    *ret = (struct thread_shares){.v = arena_array(arena, p->thread_count, sizeof *ret->v)};
    for (size_t i = 0; i < p->thread_count; i++)
        ret->v[i].counters = p->thread_site_count ? COUNTERS_ZERO : p->threads[i].counters;
    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct profile_thread_site *row = &p->thread_sites[i];
        const struct counters *counted = profile_row_counters(p, i);
        struct thread_share *share = &ret->v[row->thread];
        struct counters c;

        if (stacks != NULL && stacks->site_stacks[row->site] == 0)
            continue;
        c = charged(&sites[row->site], counted);
        counters_add(&share->counters, &c);
        share->for_others_blocks =
            counters_sum(share->for_others_blocks, below_zero(counters_live_blocks(counted)));
        share->for_others_bytes =
            counters_sum(share->for_others_bytes, below_zero(counters_live_bytes(counted)));
        ret->live_is_shared |= thread_shares_is_shared(&sites[row->site], LIVE_BLOCKS);
        ret->peak_is_shared |= thread_shares_is_shared(&sites[row->site], PEAK_BLOCKS);
    }
    for (size_t i = 0; i < p->thread_count && p->extent == EXTENT_BETWEEN; i++)
        ret->v[i].for_others_blocks = ret->v[i].for_others_bytes = -1;
}

/* caller_history.c: divide the changes of a history between callers.
 *
 * A row of a short stack has its counters and a list of changes, which add up to them. The counters
 * are divided first (caller_shares.c). Each change is then divided so that the parts of a row come
 * to their shares at its end, and no part frees more than it has. Rows of damaged files, whose
 * changes do not add up, are divided by the fractions of the whole run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/caller_spread.h"

/* An entry of a history is split into this many at most. */
enum { CHANGES_MAX = 1 << 23 };

/* Sums above this lose units as doubles; only damaged files have them. */
#define AMOUNT_MAX ((int64_t)1 << 50)

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

    r.allocations = callers_share_of(c, i, COLUMN_ALLOCATIONS, before->allocations, a->allocations);
    r.allocated_bytes =
        callers_share_of(c, i, COLUMN_ALLOCATED_BYTES, before->allocated_bytes, a->allocated_bytes);
    r.frees = counters_difference(
        r.allocations,
        callers_share_of(c, i, COLUMN_LIVE_BLOCKS,
                         counters_difference(before->allocations, before->frees),
                         counters_difference(a->allocations, a->frees)));
    r.freed_bytes = counters_difference(
        r.allocated_bytes,
        callers_share_of(c, i, COLUMN_LIVE_BYTES,
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

void
callers_make_parts(struct spreader *s)
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

/* Raise negative frees, amounts K of PARTS, to 0. Other parts give them up, so the sum stays. */
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

void
callers_set_parts(const struct cell *c, struct spread_row *row, const struct counters *k)
{
    for (size_t i = 0; i < c->count; i++) {
        struct counters share = callers_share(c, i, k);
        const int64_t total[] = {share.allocations, share.allocated_bytes, share.frees,
                                 share.freed_bytes};

        memcpy(row->parts[i].total, total, sizeof total);
    }
    for (int n = 0; n < AMOUNTS; n++)
        raise_frees(row->parts, c->count, n);
}

static int
compare_changes(const void *a, const void *b)
{
    const struct profile_change *x = a, *y = b;

    if (x->thread_site != y->thread_site)
        return x->thread_site < y->thread_site ? -1 : 1;
    return x->interval < y->interval ? -1 : x->interval > y->interval;
}

void
callers_spread_changes(struct spreader *s, struct profile_amounts *before)
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

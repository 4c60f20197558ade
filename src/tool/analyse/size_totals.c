/* size_totals.c: build the rows of the profile's size table.
 *
 * The profile has 1025 exact bins and ranges above them. Views show the ranges as one row, as mprof
 * does, because sites describe larger blocks better. This row is shown even if it is empty, so that
 * the table does not look cut off.
 *
 * A bin stores no stacks. But if all blocks of a site have one size, the site and its type belong
 * to that bin.
 *
 * The recorder stores no bins at snapshots, because a record has 17 KB. In a profile cut to a part
 * of the run, these sites give the rows. Other sites belong to the row for larger blocks, or have
 * several sizes within a class, whose numbers are known only together.
 *
 * Pure: no I/O; does not change the profile. */
#include "analyse/totals.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile_valid.h"
#include "util/ensure.h"
#include "util/map.h"

static void size_totals_add_types(const struct profile *p, struct size_totals *bins);
static void add_known(const struct profile *p, struct arena *arena, struct size_totals *bins);

static bool
size_totals_is_used(const struct counters *c)
{
    return c->allocations != 0 || c->frees != 0;
}

/* Return the row for blocks of SIZE, or NULL if there is none. */
static struct bin_row *
size_totals_find_row(const struct size_totals *bins, uint64_t size)
{
    size_t low = 0;
    size_t high = bins->count - 1;

    if (size > BIN_SIZE_MAX)
        return &bins->v[bins->count - 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bins->v[middle].size < size)
            low = middle + 1;
        else
            high = middle;
    }
    return bins->v[low].size == size ? &bins->v[low] : NULL;
}

/* Return the row for all blocks of SITE; NULL if they have several sizes up to BIN_SIZE_MAX. */
static struct bin_row *
size_totals_row_of_site(const struct size_totals *bins, const struct profile_site *site)
{
    uint64_t size_min = profile_site_size_min(site);

    return size_min >= profile_site_size_max(site) || size_min > BIN_SIZE_MAX
               ? size_totals_find_row(bins, size_min)
               : NULL;
}

static void
size_totals_add_types(const struct profile *p, struct size_totals *bins)
{
    for (size_t i = 0; i < p->type_count; i++) {
        struct bin_row *row =
            p->types[i].size <= BIN_SIZE_MAX ? size_totals_find_row(bins, p->types[i].size) : NULL;

        if (row == NULL)
            continue;
        if (row->type_count++ == 0)
            row->types = &p->types[i];
    }
}

/* Add SITE to the row ROW_INDEX. KNOWN maps row and type to an index into the row's `known`. */
static void
size_totals_add_site(const struct profile *p, const struct profile_site *site,
                     struct size_totals *bins, size_t row_index, struct map *known,
                     struct arena *arena)
{
    uint64_t key = (uint64_t)row_index << 34 | (uint64_t)(site->verdict & 3) << 32 | site->type;
    struct bin_row *row = &bins->v[row_index];
    size_t capacity = row->known_count;
    struct bin_type *grown;
    bool is_new;
    uint64_t *index = map_put(known, key, &is_new);

    if (!is_new) {
        counters_add(&row->known[*index].counters, &site->counters);
        return;
    }
    *index = row->known_count;
    // The array is full whenever the count is a power of two.
    if ((capacity & (capacity - 1)) == 0) {
        grown = arena_array(arena, capacity ? capacity * 2 : 1, sizeof *grown);
        if (capacity > 0)
            memcpy(grown, row->known, capacity * sizeof *grown);
        row->known = grown;
    }
    row->known[row->known_count++] = (struct bin_type){.name = profile_string(p, site->type),
                                                       .verdict = site->verdict,
                                                       .counters = site->counters};
}

static int
by_known_bytes(const void *a, const void *b)
{
    const struct bin_type *x = a;
    const struct bin_type *y = b;

    if (x->counters.allocated_bytes != y->counters.allocated_bytes)
        return x->counters.allocated_bytes < y->counters.allocated_bytes ? 1 : -1;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Add the sites whose blocks all belong to one bin. */
static void
add_known(const struct profile *p, struct arena *arena, struct size_totals *bins)
{
    struct map known = {0};

    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        const struct counters *c = &site->counters;
        struct bin_row *row = NULL;

        // Only malloc's blocks are counted in bins.
        if (site->heap == 0 && site->verdict >= VERDICT_LIKELY && site->type != 0 &&
            size_totals_is_used(c))
            row = size_totals_row_of_site(bins, site);
        if (row != NULL)
            size_totals_add_site(p, site, bins, (size_t)(row - bins->v), &known, arena);
    }
    map_release(&known);
    for (size_t i = 0; i < bins->count; i++)
        if (bins->v[i].known_count > 1)
            qsort(bins->v[i].known, bins->v[i].known_count, sizeof *bins->v[i].known,
                  by_known_bytes);
}

/* Add rows of P's bins. LARGER is the row for larger blocks. */
static void
size_totals_add_bins(const struct profile *p, struct size_totals *ret, struct bin_row *larger)
{
    for (size_t i = 0; i < p->bin_count; i++) {
        const struct profile_bin *bin = &p->bins[i];

        counters_add(&ret->total, &bin->counters);
        if (bin->size_min > BIN_SIZE_MAX)
            counters_add(&larger->counters, &bin->counters);
        else if (size_totals_is_used(&bin->counters))
            ret->v[ret->count++] =
                (struct bin_row){.size = bin->size_min, .counters = bin->counters};
    }
}

/* Add SITE to the range of its size class. RANGES are by class; size_max is 0 in unused ones. */
static void
size_totals_widen(struct bin_range *ranges, const struct profile_site *site)
{
    struct bin_range *range = &ranges[site->size_class];
    uint64_t size_min = profile_site_size_min(site), size_max = profile_site_size_max(site);

    if (range->size_max == 0)
        *range = (struct bin_range){size_min, size_max, COUNTERS_ZERO};
    range->size_min = size_min < range->size_min ? size_min : range->size_min;
    range->size_max = size_max > range->size_max ? size_max : range->size_max;
    counters_add(&range->counters, &site->counters);
}

/* Like size_totals_add_bins, and add ranges, from the sites of P, which is cut. */
static void
size_totals_add_sites(const struct profile *p, struct arena *arena, struct size_totals *ret,
                      struct bin_row *larger)
{
    struct bin_row *rows = arena_array(arena, BIN_SIZE_MAX + 2, sizeof *rows);
    struct bin_range ranges[countof(ret->ranges)] = {{0}};

    for (size_t i = 0; i <= BIN_SIZE_MAX; i++)
        rows[i] = (struct bin_row){.size = i, .counters = COUNTERS_ZERO};
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        uint64_t size_min = profile_site_size_min(site), size_max = profile_site_size_max(site);

        if (site->heap != 0 || !size_totals_is_used(&site->counters))
            continue;
        counters_add(&ret->total, &site->counters);
        if (size_min > BIN_SIZE_MAX)
            counters_add(&larger->counters, &site->counters);
        else if (size_min >= size_max)
            counters_add(&rows[size_min].counters, &site->counters);
        else
            size_totals_widen(ranges, site);
    }
    for (size_t i = 0; i <= BIN_SIZE_MAX; i++)
        if (size_totals_is_used(&rows[i].counters))
            rows[ret->count++] = rows[i];
    ret->v = rows;
    for (size_t i = 0; i < countof(ranges); i++)
        if (ranges[i].size_max != 0)
            ret->ranges[ret->range_count++] = ranges[i];
}

void
size_totals_build(const struct profile *p, struct arena *arena, struct size_totals *ret)
{
    struct bin_row larger = {.size = BIN_LARGER, .counters = COUNTERS_ZERO};

    *ret = (struct size_totals){.total = COUNTERS_ZERO};
    if (p->extent == EXTENT_WHOLE) {
        ret->v = arena_array(arena, p->bin_count + 1, sizeof *ret->v);
        size_totals_add_bins(p, ret, &larger);
    } else {
        size_totals_add_sites(p, arena, ret, &larger);
    }
    ret->v[ret->count++] = larger;
    size_totals_add_types(p, ret);
    add_known(p, arena, ret);
    ENSURE_VALID(size_totals_are_valid(p, ret));
}

static int
size_totals_order_by_bytes(const void *a, const void *b)
{
    const struct bin_row *x = *(const struct bin_row *const *)a;
    const struct bin_row *y = *(const struct bin_row *const *)b;

    if (x->counters.allocated_bytes != y->counters.allocated_bytes)
        return x->counters.allocated_bytes < y->counters.allocated_bytes ? 1 : -1;
    return x->size < y->size ? -1 : x->size > y->size;
}

const struct bin_row **
size_totals_by_bytes(const struct size_totals *bins, struct arena *arena)
{
    const struct bin_row **rows = arena_array(arena, bins->count, sizeof *rows);

    for (size_t i = 0; i < bins->count; i++)
        rows[i] = &bins->v[i];
    qsort(rows, bins->count, sizeof *rows, size_totals_order_by_bytes);
    return rows;
}

void
size_totals_bars(const struct size_totals *bins, struct bin_bar ret[BIN_BAR_COUNT])
{
    uint64_t size_max = 16;
    size_t row = 0;

    for (size_t i = 0; i < BIN_BAR_COUNT; i++, size_max *= 2) {
        uint64_t end = i + 1 < BIN_BAR_COUNT ? size_max : UINT64_MAX;

        ret[i] = (struct bin_bar){i ? size_max / 2 + 1 : 0, end, COUNTERS_ZERO};
        for (; row < bins->count && bins->v[row].size <= end; row++)
            counters_add(&ret[i].counters, &bins->v[row].counters);
    }
}

bool
size_totals_are_valid(const struct profile *p, const struct size_totals *b)
{
    struct counters sum = COUNTERS_ZERO;

    VALID(b->count >= 1);                         // There is always a row for larger blocks.
    VALID(b->v[b->count - 1].size == BIN_LARGER); // The row for larger blocks is the last.
    for (size_t i = 0; i < b->count; i++) {
        const struct bin_row *row = &b->v[i];

        VALID(i == 0 || row[-1].size < row->size); // Rows are found by binary search.
        VALID(row->type_count == 0 ||
              (row->types >= p->types && row->types + row->type_count <= p->types + p->type_count));
        counters_add(&sum, &row->counters);
    }
    VALID(b->range_count == 0 || p->extent != EXTENT_WHOLE);
    for (size_t i = 0; i < b->range_count; i++) {
        VALID(b->ranges[i].size_min < b->ranges[i].size_max);
        counters_add(&sum, &b->ranges[i].counters);
    }
    VALID(counters_are_same(&sum, &b->total)); // The rows and ranges sum to the total.
    return true;
}

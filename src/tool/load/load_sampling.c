/* load_sampling.c: recording modes, and error bounds of estimates.
 *
 * A profile with every event recorded has one mode, exact, and no errors. A profile of an older
 * recorder lacks these tables and is read as exact. Impossible error values (not finite, negative,
 * larger than any sum) count as 0. analyse/interval.c converts errors to intervals. */
#include "load/loader.h"

#include <stdlib.h>
#include <string.h>

/* Upper bound of any sum of an estimate: 2^63 bytes, squared, times the number of samples. */
#define ERROR_MAX 1e60

/* Return X if it is a possible value of an estimate, otherwise 0. */
static double
load_sampling_believable(double x)
{
    return x > 0 && x < ERROR_MAX ? x : 0;
}

static struct error_sum
read_error(const struct disk_error_sum *d)
{
    return (struct error_sum){
        .samples = (double)d->samples,
        .blocks = (double)d->blocks,
        .bytes = (double)d->bytes,
        .blocks_variance = load_sampling_believable(d->blocks_variance),
        .bytes_variance = load_sampling_believable(d->bytes_variance),
    };
}

size_t
load_errors(struct loader *l)
{
    uint64_t epoch = l->raw->header.shared.peak_epoch;
    struct profile *p = l->p;
    size_t orphaned = 0;

    for (size_t i = 0; i < raw_count(l->raw, DISK_ERRORS); i++) {
        const struct disk_error *d = raw_record(l->raw, DISK_ERRORS, i);
        struct errors e;
        uint32_t site;

        if (d->site == 0 || loader_backing_at(l, d->site) != NULL)
            continue;
        e = (struct errors){
            .allocated = read_error(&d->allocated),
            .freed = read_error(&d->freed),
            .peak = read_error(&d->peak),
            .blocks_unit_max = load_sampling_believable(d->blocks_unit_max),
            .bytes_unit_max = load_sampling_believable(d->bytes_unit_max),
        };
        if (d->peak_epoch < epoch)
            e.peak = errors_live(&e);
        site = loader_site_at(l, d->site, &orphaned); // Adding a site may move the array of sites.
        errors_add(profile_change_site_errors(p, site), &e);
        errors_add(&p->errors, &e);
    }
    return orphaned;
}

/* Return the possible block sizes at SITE in modes without a sample of it: any size of its class.
 * If its stack VARIES so much that it has blocks of two classes, any size of the adjacent classes
 * as well. The sizes of the smallest class differ too little to matter. The largest class ends with
 * the largest observed size. */
static struct counters
possible_sizes(const struct profile_site *site, bool varies)
{
    static const uint64_t smallest[] = {16, 16, 33, 257, 2049}, largest[] = {32, 256, 2048, 0, 0};
    struct counters c = site->counters;

    if ((site->size_class > 0 || varies) && smallest[site->size_class + !varies] < c.size_min)
        c.size_min = smallest[site->size_class + !varies];
    if (largest[site->size_class + varies] > c.size_max)
        c.size_max = largest[site->size_class + varies];
    return c;
}

static void
set_units(struct profile *p, size_t i, bool varies)
{
    const struct profile_site *site = &p->sites[i];
    struct counters possible = possible_sizes(site, varies);
    struct errors seen = profile_missed(p, &site->counters), few = profile_missed(p, &possible);
    struct errors *errors = profile_change_site_errors(p, i);

    few.blocks_unit_max = few.bytes_unit_max = 0;
    errors_add_units(errors, &seen);
    errors_add_units(errors, &few);
}

void
load_units(struct loader *l)
{
    struct profile *p = l->p;
    struct errors missed = profile_missed(p, &p->totals); // For blocks of stacks without any site.
    // By node: one bit for each size class of the sites.
    uint8_t *classes;

    if (p->longest_bytes == 0 && p->longest_calls == 0) // Everything was recorded.
        return;
    classes = arena_alloc(&p->arena, p->node_count);
    errors_add_units(&p->errors, &missed);
    for (size_t i = 0; i < p->site_count; i++)
        if (p->sites[i].counters.allocations != 0)
            classes[p->sites[i].node] |= (uint8_t)(1 << p->sites[i].size_class);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        uint8_t own = classes[site->node];

        if (site->counters.allocations == 0)
            continue;
        set_units(p, i, (own & (own - 1)) != 0);
        errors_add_units(&p->errors, profile_site_errors(p, i));
    }
}

static int
by_begin(const void *a, const void *b)
{
    const struct profile_recording_mode *x = a, *y = b;

    return x->elapsed_ns < y->elapsed_ns ? -1 : x->elapsed_ns > y->elapsed_ns;
}

/* Return PERIOD, or 0 if it is invalid. */
static uint64_t
valid_callers(uint64_t period)
{
    return period <= DISK_CALLERS_PERIOD_MAX ? period : 0;
}

void
load_modes(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_PHASES);

    p->modes = arena_array(&p->arena, count + 1, sizeof *p->modes);
    p->modes[0] = (struct profile_recording_mode){0};
    for (size_t i = 0; i < count; i++) {
        const struct disk_phase *d = raw_record(l->raw, DISK_PHASES, i);

        if (d->id == i + 1 && d->mode <= MODE_OFF)
            p->modes[p->mode_count++] = (struct profile_recording_mode){
                d->mode, d->period, d->since_ns, valid_callers(d->callers_period)};
    }
    if (p->mode_count > 1)
        qsort(p->modes, p->mode_count, sizeof *p->modes, by_begin);
    p->mode_count += p->mode_count == 0;
    for (size_t i = 0; i < p->mode_count; i++) {
        uint64_t *longest = p->modes[i].mode == MODE_BYTES   ? &p->longest_bytes
                            : p->modes[i].mode == MODE_COUNT ? &p->longest_calls
                                                               : NULL;

        if (longest != NULL && p->modes[i].period > *longest)
            *longest = p->modes[i].period;
        if (p->modes[i].callers_period > p->callers_period)
            p->callers_period = p->modes[i].callers_period;
    }
}

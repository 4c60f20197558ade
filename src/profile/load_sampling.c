/* load_sampling.c: how the numbers came about: the phases of recording, the marks set meanwhile,
 * and what estimates may be off by.
 *
 * A profile whose recorder took every call has one exact phase and no errors; one of an older
 * recorder has no such tables at all, and is read as the same. Numbers that estimates cannot have
 * (not finite, negative, beyond any sum) count as 0. How errors become intervals is
 * analyse/interval.c's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/loader.h"

/* No sum of an estimate is larger: 2^63 bytes, squared, times the number of samples. */
#define ERROR_MAX 1e60

/* X, if it is a number that an estimate may have. */
static double
believable(double x)
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
        .blocks_variance = believable(d->blocks_variance),
        .bytes_variance = believable(d->bytes_variance),
    };
}

/* Blocks per point, if they were the smallest of SIZE_CLASS; those of the smallest class differ too
 * little to matter. By bytes a point is worth the period, which is E's bytes per point. */
static double
class_unit(const struct errors *e, uint32_t size_class)
{
    static const double smallest[DISK_SIZE_CLASSES] = {HUGE_VAL, 33, 257, 2049};
    double unit = e->bytes_unit_max / smallest[size_class];

    return unit > e->blocks_unit_max ? unit : e->blocks_unit_max;
}

size_t
load_errors(struct loader *l)
{
    uint64_t epoch = l->raw->header.shared.peak_epoch;
    struct profile *p = l->p;
    size_t homeless = 0;

    for (size_t i = 0; i < raw_count(l->raw, DISK_ERRORS); i++) {
        const struct disk_error *d = raw_record(l->raw, DISK_ERRORS, i);
        struct profile_site *site;
        struct errors e;

        if (d->site == 0)
            continue;
        e = (struct errors){
            .allocated = read_error(&d->allocated),
            .freed = read_error(&d->freed),
            .peak = read_error(&d->peak),
            .blocks_unit_max = believable(d->blocks_unit_max),
            .bytes_unit_max = believable(d->bytes_unit_max),
        };
        if (d->peak_epoch < epoch)
            e.peak = errors_live(&e);
        site = &p->sites[loader_site_at(l, d->site, &homeless)];
        e.blocks_unit_class = class_unit(&e, site->size_class);
        errors_add(&site->errors, &e);
        errors_add(&p->errors, &e);
    }
    return homeless;
}

static int
by_begin(const void *a, const void *b)
{
    const struct profile_phase *x = a, *y = b;

    return x->elapsed_ns < y->elapsed_ns ? -1 : x->elapsed_ns > y->elapsed_ns;
}

void
load_phases(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_PHASES);

    p->phases = arena_array(&p->arena, count + 1, sizeof *p->phases);
    p->phases[0] = (struct profile_phase){0};
    for (size_t i = 0; i < count; i++) {
        const struct disk_phase *d = raw_record(l->raw, DISK_PHASES, i);

        if (d->id == i + 1 && d->mode <= MODE_OFF)
            p->phases[p->phase_count++] =
                (struct profile_phase){d->mode, d->period, d->since_ns};
    }
    if (p->phase_count > 1)
        qsort(p->phases, p->phase_count, sizeof *p->phases, by_begin);
    p->phase_count += p->phase_count == 0;
}

static int
by_moment(const void *a, const void *b)
{
    const struct profile_mark *x = a, *y = b;

    return x->elapsed_ns < y->elapsed_ns ? -1 : x->elapsed_ns > y->elapsed_ns;
}

void
load_marks(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_MARKS);

    p->marks = arena_array(&p->arena, count, sizeof *p->marks);
    for (size_t i = 0; i < count; i++) {
        const struct disk_mark *d = raw_record(l->raw, DISK_MARKS, i);

        if (d->elapsed_ns == 0)
            continue;
        p->marks[p->mark_count++] = (struct profile_mark){
            .elapsed_ns = d->elapsed_ns,
            .name = arena_strndup(&p->arena, d->name, strnlen(d->name, sizeof d->name)),
            .live_bytes = d->live_bytes,
            .allocations = (int64_t)d->allocations,
            .allocated_bytes = (int64_t)d->allocated_bytes,
        };
    }
    if (p->mark_count > 1)
        qsort(p->marks, p->mark_count, sizeof *p->marks, by_moment);
}

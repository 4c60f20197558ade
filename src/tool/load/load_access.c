/* load_access.c: access counts by site and by granule.
 *
 * The file counts ended blocks and live blocks in separate parts; live blocks belong to the latest
 * merge that counted them (format.md 4.16). If N is the latest merge, these parts count each block
 * once, and the model has their sum:
 *
 *     ENDED  +  LIVE of N  +  LATE of the other parity than N
 *
 * The other records describe the same blocks at another time. A record of LIVE with another number
 * than N belongs to an older merge, or to one in progress. */
#include "load/loader.h"

static bool
is_granule(uint32_t bytes)
{
    return bytes == 8 || bytes == 16 || bytes == 64;
}

/* Return true if the sum includes records of PART by merge MERGE. */
static bool
load_access_is_counted(const struct disk_counting *c, uint32_t part, uint64_t merge)
{
    if (part == DISK_ACCESS_ENDED)
        return true;
    if (part == DISK_ACCESS_LIVE_0 || part == DISK_ACCESS_LIVE_1)
        return c->merge != 0 && merge == c->merge &&
               part == (c->merge % 2 == 0 ? DISK_ACCESS_LIVE_0 : DISK_ACCESS_LIVE_1);
    return part == (c->merge % 2 == 0 ? DISK_ACCESS_LATE_1 : DISK_ACCESS_LATE_0);
}

static struct access_range
range_of(const struct disk_spread *s)
{
    return (struct access_range){s->total, s->min, s->max};
}

static struct profile_access
load_access_of(const struct disk_access *d, uint32_t site)
{
    return (struct profile_access){
        .site = site,
        .blocks = d->blocks,
        .accesses = range_of(&d->accesses),
        .writes = range_of(&d->writes),
        .size_bytes = range_of(&d->size_bytes),
        .lifetime_us = range_of(&d->lifetime_us),
        .utilised = range_of(&d->utilised),
        .density = range_of(&d->density),
        .lifetime_density = range_of(&d->lifetime_density),
        .granules = d->granules,
        .touched_granules = d->touched_granules,
        .untouched_bytes = d->untouched_bytes,
        .never = d->never,
        .write_only = d->write_only,
        .regrown = d->regrown,
        .dated = d->dated,
        .migrated = d->migrated,
        .overlaps = d->overlaps,
        .same_alloc_cpu = d->same_alloc_cpu,
        .same_dealloc_cpu = d->same_dealloc_cpu,
        .alloc_us = d->alloc_us,
        .dealloc_us = d->dealloc_us,
        .alloc_cpu = d->alloc_cpu,
        .dealloc_cpu = d->dealloc_cpu,
    };
}

static size_t
load_sites_of(struct loader *l, struct profile_accesses *a)
{
    const struct disk_counting *c = &l->raw->header.counting;
    size_t count = raw_count(l->raw, DISK_ACCESS), orphaned = 0;
    bool by_site = (c->flags & DISK_COUNTING_BY_SITE) != 0;

    a->v = arena_array(&l->p->arena, count, sizeof *a->v);
    for (size_t i = 0; i < count; i++) {
        const struct disk_access *d = raw_record(l->raw, DISK_ACCESS, i);

        if (d->site == 0 || d->blocks == 0 || !load_access_is_counted(c, d->part, d->merge) ||
            loader_backing_at(l, d->site) != NULL)
            continue;
        a->v[a->count] = load_access_of(d, loader_site_at(l, d->site, &orphaned));
        a->v[a->count++].unproven =
            by_site ? (d->flags & DISK_ACCESS_UNPROVEN) != 0 : !access_is_complete(a);
    }
    return orphaned;
}

static void
load_fields(struct loader *l, struct profile_accesses *a)
{
    const struct disk_counting *c = &l->raw->header.counting;
    size_t count = raw_count(l->raw, DISK_FIELDS), orphaned = 0, capacity = 0;

    for (size_t i = 0; i < count; i++) {
        const struct disk_fields *d = raw_record(l->raw, DISK_FIELDS, i);
        uint32_t site;

        if (d->site == 0 || !load_access_is_counted(c, d->part, d->merge) ||
            d->first % DISK_FIELD_WORDS != 0 || d->first > UINT32_MAX - DISK_FIELD_WORDS ||
            loader_backing_at(l, d->site) != NULL)
            continue;
        site = loader_site_at(l, d->site, &orphaned);
        for (uint32_t k = 0; k < DISK_FIELD_WORDS; k++) {
            const struct disk_field *f = &d->fields[k];

            if (f->reached == 0 && f->accesses == 0)
                continue;
            arena_grow(&l->p->arena, &a->fields, &capacity, a->field_count, sizeof *a->fields);
            a->fields[a->field_count++] = (struct profile_access_field){
                site, d->first + k, f->accesses, f->writes, f->blocks, f->reached};
        }
    }
}

size_t
load_accesses(struct loader *l)
{
    const struct disk_counting *c = &l->raw->header.counting;
    struct profile_accesses *a = &l->p->accesses;
    size_t orphaned;

    if (!(c->flags & DISK_COUNTING))
        return 0;
    if (!is_granule(c->granule_bytes)) {
        raw_damage(l->raw,
                   "accesses were counted by %u bytes, an unknown size; they are left out",
                   c->granule_bytes);
        return 0;
    }
    *a = (struct profile_accesses){
        .granule_bytes = c->granule_bytes,
        .granules_max = c->words_max,
        .separate = (c->flags & DISK_COUNTING_APART) != 0,
        .atomic = (c->flags & DISK_COUNTING_ATOMIC) != 0,
        .ended = (c->flags & DISK_COUNTING_ENDED) != 0,
        .looked = (c->flags & DISK_COUNTING_LOOKED) != 0,
        .uncounted = arena_strdup(&l->p->arena, raw_string(l->raw, c->uncounted)),
        .merge_ns = c->merge != 0 ? c->merge_ns : 0,
        .resets = c->resets,
        .losses = {.unmerged = c->unmerged_blocks,
                   .undated = c->undated_blocks,
                   .unaligned = c->unaligned_blocks,
                   .unfielded = c->unfielded_blocks,
                   .outside = c->outside_blocks,
                   .accesses = c->lost_accesses},
    };
    orphaned = load_sites_of(l, a);
    load_fields(l, a);
    access_sort(a);
    return orphaned;
}

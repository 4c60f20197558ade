/* access.c: sum access counts. Sums wrap, because a damaged file may hold any numbers. */
#include "profile/access.h"

#include <stdlib.h>
#include <string.h>

static void
range_add(struct access_range *sum, const struct access_range *range)
{
    sum->total += range->total;
    if (range->min < sum->min)
        sum->min = range->min;
    if (range->max > sum->max)
        sum->max = range->max;
}

void
access_add(struct profile_access *sum, const struct profile_access *a)
{
    sum->blocks += a->blocks;
    range_add(&sum->accesses, &a->accesses);
    range_add(&sum->writes, &a->writes);
    range_add(&sum->size_bytes, &a->size_bytes);
    range_add(&sum->lifetime_us, &a->lifetime_us);
    range_add(&sum->utilised, &a->utilised);
    range_add(&sum->density, &a->density);
    range_add(&sum->lifetime_density, &a->lifetime_density);
    sum->granules += a->granules;
    sum->touched_granules += a->touched_granules;
    sum->untouched_bytes += a->untouched_bytes;
    sum->never += a->never;
    sum->write_only += a->write_only;
    sum->regrown += a->regrown;
    sum->dated += a->dated;
    sum->migrated += a->migrated;
    sum->overlaps += a->overlaps;
    sum->same_alloc_cpu += a->same_alloc_cpu;
    sum->same_dealloc_cpu += a->same_dealloc_cpu;
    sum->unproven |= a->unproven;
    if (a->dealloc_us >= sum->dealloc_us) {
        sum->alloc_us = a->alloc_us;
        sum->dealloc_us = a->dealloc_us;
        sum->alloc_cpu = a->alloc_cpu;
        sum->dealloc_cpu = a->dealloc_cpu;
    }
}

void
access_field_add(struct profile_access_field *sum, const struct profile_access_field *f)
{
    sum->accesses += f->accesses;
    sum->writes += f->writes;
    sum->blocks += f->blocks;
    sum->reached += f->reached;
}

void
access_losses_add(struct profile_access_losses *sum, const struct profile_access_losses *l)
{
    sum->unmerged += l->unmerged;
    sum->undated += l->undated;
    sum->accesses += l->accesses;
    sum->unaligned += l->unaligned;
    sum->unfielded += l->unfielded;
    sum->outside += l->outside;
}

/* Return true if LIST, whose names are separated by ", ", contains the name of LENGTH bytes at
 * NAME. */
static bool
is_listed(const char *list, const char *name, size_t length)
{
    for (const char *p = list; *p != '\0'; p += strspn(p, ", ")) {
        size_t n = strcspn(p, ",");

        if (n == length && memcmp(p, name, n) == 0)
            return true;
        p += n;
    }
    return false;
}

/* Return a list of the names in A and B, each once. */
static const char *
names_of_both(struct arena *arena, const char *a, const char *b)
{
    const char *all = arena_strdup(arena, a != NULL ? a : "");

    if (b == NULL)
        return all;
    for (const char *p = b; *p != '\0'; p += strspn(p, ", ")) {
        size_t n = strcspn(p, ",");

        if (n > 0 && !is_listed(all, p, n))
            all = arena_printf(arena, "%s%s%.*s", all, *all != '\0' ? ", " : "", (int)n, p);
        p += n;
    }
    return all;
}

void
access_join(struct arena *arena, struct profile_accesses *sum, const struct profile_accesses *a)
{
    if (a->granule_bytes == 0)
        return;
    if (sum->granule_bytes == 0) {
        sum->granule_bytes = a->granule_bytes;
        sum->granules_max = a->granules_max;
        sum->separate = a->separate;
        sum->atomic = a->atomic;
        sum->ended = a->ended;
        sum->looked = a->looked;
    } else {
        if (a->granule_bytes != sum->granule_bytes)
            sum->granules_max = 0;
        else if (a->granules_max < sum->granules_max)
            sum->granules_max = a->granules_max;
        if (a->granule_bytes > sum->granule_bytes)
            sum->granule_bytes = a->granule_bytes;
        sum->separate = sum->separate && a->separate;
        sum->atomic = sum->atomic && a->atomic;
        sum->ended = sum->ended && a->ended;
        sum->looked = sum->looked && a->looked;
    }
    sum->uncounted = names_of_both(arena, sum->uncounted, a->uncounted);
    if (a->merge_ns > sum->merge_ns)
        sum->merge_ns = a->merge_ns;
    sum->resets += a->resets;
    access_losses_add(&sum->losses, &a->losses);
}

static int
profile_access_by_site(const void *left, const void *right)
{
    const struct profile_access *a = left, *b = right;

    return a->site < b->site ? -1 : a->site > b->site;
}

static int
profile_access_by_place(const void *left, const void *right)
{
    const struct profile_access_field *a = left, *b = right;

    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

void
access_sort(struct profile_accesses *a)
{
    size_t kept = 0;

    if (a->count > 1)
        qsort(a->v, a->count, sizeof *a->v, profile_access_by_site);
    for (size_t i = 0; i < a->count; i++) {
        if (kept > 0 && a->v[kept - 1].site == a->v[i].site)
            access_add(&a->v[kept - 1], &a->v[i]);
        else
            a->v[kept++] = a->v[i];
    }
    a->count = kept;
    kept = 0;
    if (a->field_count > 1)
        qsort(a->fields, a->field_count, sizeof *a->fields, profile_access_by_place);
    for (size_t i = 0; i < a->field_count; i++) {
        if (kept > 0 && profile_access_by_place(&a->fields[kept - 1], &a->fields[i]) == 0)
            access_field_add(&a->fields[kept - 1], &a->fields[i]);
        else
            a->fields[kept++] = a->fields[i];
    }
    a->field_count = kept;
}

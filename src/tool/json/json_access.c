/* json_access.c: write the document "heaptap-access": sites as in a report, each with the use of
 * its blocks.
 *
 *     {"format": "heaptap-access", …, "counting": {…}, "accessed": {…},
 *      "sites": {"live_bytes": […], …, "accesses": [{"total":4004,"min":4,"max":4000}, …], …}} */
#include "json/json.h"

#include "json/json_tables.h"
#include "view/phrases.h"

void
json_counting(struct json *j, const struct profile *p)
{
    const struct profile_accesses *a = &p->accesses;

    if (a->granule_bytes == 0) {
        json_string(j, "counting", NULL);
        return;
    }
    json_object(j, "counting");
    json_uint(j, "granule_bytes", a->granule_bytes);
    json_uint(j, "granules_max", a->granules_max);
    json_bool(j, "reads_and_writes", a->separate);
    json_bool(j, "atomic", a->atomic);
    json_bool(j, "ended", a->ended);
    json_bool(j, "uncounted_known", a->looked);
    json_string(j, "uncounted", access_is_complete(a) ? NULL : a->uncounted);
    json_uint(j, "merged_ns", a->merge_ns);
    json_uint(j, "resets", a->resets);
    json_uint(j, "unmerged_blocks", a->losses.unmerged);
    json_uint(j, "undated_blocks", a->losses.undated);
    json_uint(j, "unaligned_blocks", a->losses.unaligned);
    json_uint(j, "unfielded_blocks", a->losses.unfielded);
    json_uint(j, "outside_blocks", a->losses.outside);
    json_uint(j, "lost_accesses", a->losses.accesses);
    json_end(j);
}

/* Write RANGE as an object KEY, its numbers divided by UNIT; null unless KNOWN. */
static void
json_range(struct json *j, const char *key, const struct access_range *range, double unit,
           bool known)
{
    if (!known) {
        json_string(j, key, NULL);
        return;
    }
    json_object_line(j, key);
    if (unit == 1) {
        json_uint(j, "total", range->total);
        json_uint(j, "min", range->min);
        json_uint(j, "max", range->max);
    } else {
        json_double(j, "total", (double)range->total / unit);
        json_double(j, "min", (double)range->min / unit);
        json_double(j, "max", (double)range->max / unit);
    }
    json_end(j);
}

static void
json_of_dated(struct json *j, const char *key, const struct profile_access *a, uint64_t value)
{
    if (a->dated > 0)
        json_uint(j, key, value);
    else
        json_string(j, key, NULL);
}

/* Write the numbers of A into the open object or row. */
static void
json_used(struct json *j, const struct profile *p, const struct profile_access *a)
{
    bool any = a->blocks > 0, dated = a->dated > 0, separate = p->accesses.separate;

    json_uint(j, "access_blocks", a->blocks);
    json_range(j, "accesses", &a->accesses, 1, any);
    json_range(j, "writes", &a->writes, 1, any && separate);
    json_range(j, "size_bytes", &a->size_bytes, 1, any);
    json_range(j, "lifetime_ms", &a->lifetime_us, 1000, dated);
    json_range(j, "utilisation_percent", &a->utilised, 100, any);
    json_range(j, "access_density", &a->density, 1, any);
    json_range(j, "lifetime_access_density", &a->lifetime_density, 1, dated);
    json_uint(j, "untouched_bytes", a->untouched_bytes);
    json_uint(j, "never_blocks", a->never);
    if (separate)
        json_uint(j, "write_only_blocks", access_write_only_blocks(a));
    else
        json_string(j, "write_only_blocks", NULL);
    json_uint(j, "dated_blocks", a->dated);
    json_of_dated(j, "migrated_cpu", a, a->migrated);
    json_of_dated(j, "lifetime_overlaps", a, a->overlaps);
    json_of_dated(j, "same_alloc_cpu", a, a->same_alloc_cpu);
    json_of_dated(j, "same_dealloc_cpu", a, a->same_dealloc_cpu);
}

static void
json_rate(struct json *j, const char *key, double rate)
{
    if (rate > 0)
        json_double(j, key, rate);
    else
        json_string(j, key, NULL);
}

struct rows {
    const struct profile *p;
    const struct access_row *const *v;
};

/* Write the members of row I that sites of other documents lack. If I is SIZE_MAX, write a dummy
 * row. */
static void
json_access_put_row(struct json_tables *t, size_t i, const void *arg)
{
    static const struct access_row no_row = {.verdict = ACCESS_USED};
    const struct rows *rows = arg;
    const struct access_row *r = i != SIZE_MAX ? rows->v[i] : &no_row;
    struct json *j = t->j;

    json_used(j, rows->p, &r->a);
    json_of_dated(j, "alloc_ms", &r->a, r->a.alloc_us / 1000);
    json_of_dated(j, "dealloc_ms", &r->a, r->a.dealloc_us / 1000);
    json_of_dated(j, "alloc_cpu", &r->a, r->a.alloc_cpu);
    json_of_dated(j, "dealloc_cpu", &r->a, r->a.dealloc_cpu);
    json_double(j, "accesses_per_byte", r->per_byte);
    json_rate(j, "accesses_per_byte_second", r->rate);
    json_known(j, "type", profile_string(rows->p, r->type));
    json_string(j, "heat", access_heat_name(r->heat));
    json_string(j, "verdict", access_verdict_name(r->verdict));
}

void
json_access(struct json *j, const struct view *v, const struct access_table *t,
            enum access_pick pick, size_t limit)
{
    size_t count;
    const struct access_row **picked = access_picked(t, pick, v->arena, &count);
    const struct stack **stacks = arena_array(v->arena, count, sizeof *stacks);
    struct rows rows = {v->p, picked};
    struct json_tables tables;

    count = count < limit ? count : limit;
    for (size_t i = 0; i < count; i++)
        stacks[i] = picked[i]->stack;
    json_tables_begin(&tables, j, v->p, v->arena);
    json_object(j, NULL);
    json_head(j, "heaptap-access", v->p, &v->stacks->total, &v->stacks->errors);
    json_counting(j, v->p);
    json_object(j, "accessed");
    json_used(j, v->p, &t->total);
    json_uint(j, "hot_sites", t->hot_count);
    json_uint(j, "hot_accesses", t->hot_accesses);
    json_end(j);
    json_sites_more(&tables, "sites", stacks, count, json_access_put_row, &rows);
    json_tables_end(&tables);
    json_end(j);
}

/* json_size_totals.c: write the allocation bins as one document "heaptap-bins". */
#include "json/json.h"

#include "analyse/totals.h"
#include "json/json_tables.h"
#include "view/table.h"

static void
json_bin_amounts(struct json *j, const struct counters *c)
{
    json_int(j, "allocs", c->allocations);
    json_int(j, "bytes", c->allocated_bytes);
    json_int(j, "frees", c->frees);
    json_int(j, "kept_bytes", counters_live_bytes(c));
}

static void
json_bin(struct json *j, const struct profile *p, const struct bin_row *row)
{
    json_object(j, NULL);
    if (row->size == BIN_LARGER)
        json_string(j, "size", NULL);
    else
        json_uint(j, "size", row->size);
    json_bin_amounts(j, &row->counters);
    json_array(j, "types");
    for (size_t i = 0; i < row->type_count; i++)
        json_string(j, NULL, profile_string(p, row->types[i].name));
    json_end(j);
    json_array(j, "known");
    for (size_t i = 0; i < row->known_count; i++) {
        const struct bin_type *known = &row->known[i];

        json_object_line(j, NULL);
        json_string(j, "type", known->name);
        json_string(j, "verdict", known->verdict == VERDICT_CERTAIN ? "certain" : "likely");
        json_int(j, "allocs", known->counters.allocations);
        json_int(j, "bytes", known->counters.allocated_bytes);
        json_int(j, "kept_bytes", counters_live_bytes(&known->counters));
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

void
json_calls_of_heaps(struct json *j, const struct profile *p)
{
    json_int(j, "calls_of_heaps",
             counters_difference(p->totals.allocations, p->heaps[0].counters.allocations));
}

void
json_size_totals(struct json *j, const struct view *v, size_t top)
{
    const struct bin_row **rows;
    struct size_totals bins;

    size_totals_build(v->p, v->arena, &bins);
    rows = size_totals_by_bytes(&bins, v->arena);
    json_object(j, NULL);
    json_head(j, "heaptap-bins", v->p, &v->p->totals, &v->p->errors);
    json_calls_of_heaps(j, v->p);
    json_array(j, "bins");
    for (size_t i = 0; i < bins.count && i < top; i++)
        json_bin(j, v->p, top < bins.count ? rows[i] : &bins.v[i]);
    json_end(j);
    json_array(j, "ranges");
    for (size_t i = 0; i < bins.range_count; i++) {
        json_object(j, NULL);
        json_uint(j, "size_min", bins.ranges[i].size_min);
        json_uint(j, "size_max", bins.ranges[i].size_max);
        json_bin_amounts(j, &bins.ranges[i].counters);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

void
json_lisp_size_totals(struct json *j, const struct view *v)
{
    struct table t;

    lisp_table_build(v, &t);
    json_object(j, NULL);
    json_head(j, "heaptap-bins", v->p, &v->p->totals, &v->p->errors);
    table_json(&t, j, "classes", SIZE_MAX);
    json_end(j);
}

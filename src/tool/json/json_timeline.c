/* json_timeline.c: write the document "heaptap-timeline": live bytes of stacks over time. */
#include "json/json.h"

#include "json/json_tables.h"
#include "view/phrases.h"

static void
json_point(struct json *j, const struct profile *p, const struct timeline *t, size_t i)
{
    const struct profile_point *m = &t->points[i];
    bool is_snapshot = m->snapshots > 0 && m->snapshots <= p->snapshot_count;

    json_object_line(j, NULL);
    json_uint(j, "elapsed_ns", m->elapsed_ns);
    json_string(j, "name", is_snapshot && *m->name ? m->name : NULL);
    json_string(j, "kind",
                is_snapshot ? json_snapshot_kinds[p->snapshots[m->snapshots - 1].kind] : m->name);
    json_uint(j, "collections", t->collections != NULL ? t->collections[i] : 0);
    json_end(j);
}

static void
json_values(struct json *j, const struct timeline *t, const struct timeline_row *row)
{
    if (json_is_nested(j))
        json_array(j, "values");
    else
        json_array_filled(j, "values");
    for (size_t i = 0; i < t->point_count; i++)
        json_int(j, NULL, row->values[i]);
    json_end(j);
}

/* Write whether ROW is an estimate, and the interval of the last value, if known. */
static void
json_timeline_put_error(struct json *j, const struct profile *p, const struct timeline *t,
                        const struct timeline_row *row)
{
    const struct counters *c = &row->stack->counters;
    const struct errors *e = row->stack->errors;

    if (!profile_has_errors(p))
        return;
    json_bool(j, "estimated", sampling_is_estimate(c, e, timeline_metric(t->by)));
    if (timeline_ends_live(t, p))
        json_metric_errors(j, "", "last", c, e, METRIC_INUSE);
}

static void
json_timeline_put_row(struct json_tables *tables, const struct timeline *t,
                      const struct timeline_row *row)
{
    struct json *j = tables->j;

    if (row->stack)
        json_timeline_put_error(j, tables->p, t, row);
    json_string(j, "trend", timeline_trend_name(row->trend));
    json_double(j, "per_minute", row->per_minute);
    json_values(j, t, row);
    if (row->stack)
        json_stack(tables, "stack", row->stack);
    json_end(j);
}

void
json_timeline(struct json *j, const struct view *v, const struct timeline *t)
{
    struct json_tables tables;

    json_tables_begin(&tables, j, v->p, v->arena);
    json_object(j, NULL);
    json_head(j, "heaptap-timeline", v->p, &v->stacks->total, &v->stacks->errors);
    json_string(j, "by", timeline_by_names[t->by]);
    json_array(j, "points");
    for (size_t i = 0; i < t->point_count; i++)
        json_point(j, v->p, t, i);
    json_end(j);
    json_uint(j, "stacks", t->stack_count);
    json_uint(j, "growing", t->growing);
    json_object(j, "total");
    json_timeline_put_row(&tables, t, &t->total);
    json_array(j, "rows");
    for (size_t i = 0; i < t->row_count; i++) {
        json_object(j, NULL);
        json_timeline_put_row(&tables, t, &t->rows[i]);
    }
    json_end(j);
    json_object(j, "rest");
    json_values(j, t, &t->rest);
    json_end(j);
    json_tables_end(&tables);
    json_end(j);
}

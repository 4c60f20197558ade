/* json_diff.c: write a comparison with exact values. docs/json.md is the contract for its layout.
 *
 *     {"format": "heaptap-diff", "version": 2, "metric": "inuse", "by": "site",
 *      "before": {"profile": "a.heaptap", …, "totals": {…}}, "after": {…},
 *      "growth": {"inuse": 96, "peak": 96, "alloc": 96, "temporary": 0, "count": 1,
 *                 "died_within_16": 0},
 *      "unchanged_rows": 3,
 *      "rows": [{"growth": {…}, "before": {…}, "after": {…}, "stack": 4}], "tables": {…}}
 *
 * Members may be added. None is renamed, removed or changed in unit without a new version. */
#include "json/json.h"

#include <stdio.h>

#include "json/json_tables.h"

static void
json_side(struct json *j, const char *key, const struct profile *p, const struct counters *totals,
          const struct errors *errors)
{
    json_object(j, key);
    json_known(j, "profile", p->path);
    json_string(j, "damage", p->damage);
    json_known(j, "command", p->process.command);
    json_uint(j, "pid", p->process.pid);
    if (p->process.pid_here != 0)
        json_uint(j, "pid_here", p->process.pid_here);
    json_merged(j, p);
    json_uint(j, "start_unix_ns", p->process.start_unix_ns);
    json_uint(j, "elapsed_ns", p->process.elapsed_ns);
    json_object(j, "totals");
    json_counters(j, totals);
    if (profile_has_errors(p))
        json_errors(j, "", totals, errors);
    json_of_whole(j, "peak_error_bytes", totals, p->peak_error_bytes);
    json_end(j);
    json_extent(j, p);
    json_end(j);
}

static void
json_growth(struct json *j, const char *key, const struct counters *before,
            const struct counters *after)
{
    bool lives = !before->lifetimes_unknown && !after->lifetimes_unknown;

    json_object(j, key);
    for (int m = 0; m <= METRIC_COUNT; m++)
        if (m == METRIC_TEMPORARY && lives)
            json_int(j, "temporary", counters_difference(after->temporary, before->temporary));
        else if (metric_is_known(before, (enum metric)m) && metric_is_known(after, (enum metric)m))
            json_int(j, metric_name((enum metric)m), diff_growth(before, after, (enum metric)m));
        else
            json_string(j, metric_name((enum metric)m), NULL);
    if (lives)
        json_int(j, "died_within_16", diff_growth(before, after, METRIC_TEMPORARY));
    else
        json_string(j, "died_within_16", NULL);
    json_end(j);
}

/* Write the intervals of all metrics except short-lived blocks, whose interval is unknown. */
static void
json_interval(struct json *j, const char *prefix, const struct counters *before,
              const struct errors *before_errors, const struct counters *after,
              const struct errors *after_errors)
{
    static const enum metric metrics[] = {METRIC_INUSE, METRIC_PEAK, METRIC_ALLOC, METRIC_COUNT};

    for (int high = 0; high < 2; high++) {
        char key[64];

        snprintf(key, sizeof key, "%sgrowth_%s", prefix, high ? "high" : "low");
        json_object(j, key);
        for (size_t m = 0; m < countof(metrics); m++) {
            struct interval i =
                diff_interval(before, before_errors, after, after_errors, metrics[m]);

            json_int(j, metric_name(metrics[m]), interval_rounded(high ? i.high : i.low));
        }
        json_end(j);
    }
}

static void
json_sides(struct json *j, const char *before_key, const struct counters *before,
           const char *after_key, const struct counters *after)
{
    json_object(j, before_key);
    json_counters(j, before);
    json_end(j);
    json_object(j, after_key);
    json_counters(j, after);
    json_end(j);
}

static void
nested_frames(struct json *j, const struct diff_row *row)
{
    json_array(j, "stack");
    for (uint32_t i = 0; i < row->depth; i++) {
        const struct diff_frame *f = &row->frames[i];

        json_object(j, NULL);
        json_string(j, "function", f->function);
        json_known(j, "file", f->file);
        if (f->line)
            json_uint(j, "line", f->line);
        else
            json_string(j, "line", NULL);
        json_known(j, "module", f->module);
        json_bool(j, "inlined", f->inlined);
        json_end(j);
    }
    json_end(j);
}

static void
json_diff_put_stack(struct json_tables *t, const struct diff_row *row)
{
    uint32_t stack = 0;

    if (json_is_nested(t->j)) {
        nested_frames(t->j, row);
        return;
    }
    for (uint32_t i = row->depth; i-- > 0;) {
        const struct diff_frame *f = &row->frames[i];
        struct json_frame_texts texts = {f->function, f->file, f->module, f->line, f->inlined};

        stack = json_tables_of_texts(t, stack, &texts);
    }
    json_uint(t->j, "stack", stack);
}

static bool
has_several_lines(const struct diff_row *row)
{
    for (uint32_t i = 0; i < row->depth; i++)
        if (row->frames[i].several_lines)
            return true;
    return false;
}

static void
json_diff_put_row(const struct diff_view *v, struct json_tables *t, const struct diff_row *row)
{
    struct json *j = t->j;

    if (json_is_nested(j))
        json_object(j, NULL);
    else
        json_object_line(j, NULL);
    json_growth(j, "growth", &row->before, &row->after);
    if (v->diff->is_estimate)
        json_interval(j, "", &row->before, row->before_errors, &row->after, row->after_errors);
    json_sides(j, "before", &row->before, "after", &row->after);
    if (v->by == DIFF_BY_SITE) {
        json_string(j, "heap", row->heap->name);
        json_labels(j, row->labels);
        json_bool(j, "several_lines", has_several_lines(row));
        json_diff_put_stack(t, row);
    } else {
        json_string(j, "function", row->frames[0].function);
        json_known(j, "file", row->frames[0].file);
        json_known(j, "module", row->frames[0].module);
        json_growth(j, "inclusive_growth", &row->inclusive_before, &row->inclusive_after);
        if (v->diff->is_estimate)
            json_interval(j, "inclusive_", &row->inclusive_before, row->inclusive_before_errors,
                          &row->inclusive_after, row->inclusive_after_errors);
        json_sides(j, "inclusive_before", &row->inclusive_before, "inclusive_after",
                   &row->inclusive_after);
    }
    json_end(j);
}

/* Write the result of --fail-over. */
static void
put_limits(struct json *j, const struct limit_results *checked)
{
    if (checked == NULL)
        return;
    json_array(j, "limits");
    for (size_t i = 0; i < checked->count; i++) {
        const struct limit_result *one = &checked->v[i];

        json_object_line(j, NULL);
        json_string(j, "name", limit_name(one->of));
        json_int(j, "before", one->before);
        json_int(j, "after", one->value);
        json_int(j, "growth", counters_difference(one->value, one->before));
        json_int(j, "allowed", one->allowed);
        json_bool(j, "exceeded", one->exceeded);
        json_known(j, "cause", one->cause.function != NULL ? one->cause.function : "");
        if (one->cause.function != NULL)
            json_int(j, "cause_growth", one->cause.amount);
        else
            json_string(j, "cause_growth", NULL);
        json_end(j);
    }
    json_end(j);
}

void
json_diff(struct json *j, const struct diff_view *v)
{
    const struct diff *d = v->diff;
    size_t unchanged = 0, shown = 0;
    struct json_tables t;

    json_tables_begin(&t, j, NULL, v->arena);
    for (size_t i = 0; i < d->count; i++)
        unchanged += !diff_changed(&d->rows[i]);
    json_object(j, NULL);
    json_string(j, "format", "heaptap-diff");
    json_uint(j, "version", j->version);
    json_string(j, "metric", metric_name(v->metric));
    json_string(j, "by", v->by == DIFF_BY_SITE ? "site" : "function");
    json_bool(j, "estimate", d->is_estimate);
    json_side(j, "before", v->before, &d->before, &d->before_errors);
    json_side(j, "after", v->after, &d->after, &d->after_errors);
    json_growth(j, "growth", &d->before, &d->after);
    if (d->is_estimate)
        json_interval(j, "", &d->before, &d->before_errors, &d->after, &d->after_errors);
    json_bool(j, "inclusive_is_lower_bound", d->truncated != NULL);
    json_sides(j, "truncated_before", &d->before_truncated, "truncated_after",
               &d->after_truncated);
    put_limits(j, v->checked);
    json_uint(j, "unchanged_rows", unchanged);
    json_array(j, "rows");
    for (size_t i = 0; i < d->count && shown < v->limit; i++)
        if (diff_changed(&d->rows[i])) {
            json_diff_put_row(v, &t, &d->rows[i]);
            shown++;
        }
    json_end(j);
    json_tables_end(&t);
    json_end(j);
}

/* json_function_totals.c: write the document "heaptap-direct": memory that each function allocates
 * itself. */
#include "json/json.h"

#include "json/json_tables.h"

static void
json_amounts(struct json *j, const struct functions *f, const struct function_total *r)
{
    json_int(j, "bytes", amount_sum(&r->amount));
    json_int(j, "kept_bytes", amount_sum(&r->kept));
    json_int(j, "calls", r->amount.calls);
    json_classes(j, f, "bytes_by_class", &r->amount);
    json_classes(j, f, "kept_by_class", &r->kept);
}

void
json_function_totals(struct json *j, const struct view *v, struct functions *f,
                     const struct function_totals *d, enum metric metric, size_t limit)
{
    json_object(j, NULL);
    json_head(j, "heaptap-direct", v->p, &v->stacks->total, &v->stacks->errors);
    json_string(j, "metric", metric_name(metric));
    json_classes_of(j, f);
    json_losses(j, v->p);
    json_object(j, "total");
    json_amounts(j, f, &d->total);
    json_end(j);
    json_array(j, "direct");
    for (size_t i = 0; i < d->count && i < limit; i++) {
        json_object(j, NULL);
        json_string(j, "function", functions_name(f, d->v[i].function));
        json_string(j, "module", functions_module(f, d->v[i].function));
        json_string(j, "file", functions_file(f, d->v[i].function));
        json_amounts(j, f, &d->v[i]);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

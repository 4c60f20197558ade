/* json_callgraph.c: write the call graph: functions, and cycles as a whole. docs/json.md is the
 * contract. */
#include "json/json.h"

#include "json/json_tables.h"

static void
json_name(struct json *j, const struct callgraph *g, uint32_t node)
{
    json_string(j, "function", functions_name(g->functions, node));
    json_uint(j, "index", g->nodes[node].index);
}

/* Write the interval of A, which has the errors E, to "bytes_low" and "bytes_high" with PREFIX. In
 * a cut profile, write "estimated". */
static void
json_amount_errors(struct json *j, const struct graph_view *gv, const char *prefix,
                   const struct amount *a, const struct errors *e)
{
    struct counters c = amount_counters(a, gv->metric);

    if (profile_has_errors(gv->g->functions->p))
        json_metric_errors(j, prefix, "bytes", &c, e, gv->metric);
    json_estimated(j, gv->g->functions->p, prefix, e);
}

static void
json_arcs(struct json *j, const char *key, const struct graph_view *gv, const uint32_t *arcs,
          size_t count, bool up)
{
    const struct callgraph *g = gv->g;

    json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        const struct callgraph_arc *a = &g->arcs[arcs[i]];

        json_object_line(j, NULL);
        json_name(j, g, up ? a->caller : a->callee);
        json_int(j, "bytes", amount_sum(&a->amount));
        json_amount_errors(j, gv, "", &a->amount, a->errors);
        json_int(j, "calls", a->amount.calls);
        json_classes(j, g->functions, "bytes_by_class", &a->amount);
        json_end(j);
    }
    json_end(j);
}

static void
json_node(struct json *j, const struct graph_view *gv, const struct callgraph_node *n)
{
    json_int(j, "self_bytes", amount_sum(&n->self));
    json_amount_errors(j, gv, "self_", &n->self, n->self_errors);
    json_int(j, "inclusive_bytes", amount_sum(&n->inclusive));
    json_amount_errors(j, gv, "inclusive_", &n->inclusive, n->inclusive_errors);
    json_int(j, "calls", n->called.calls);
    json_int(j, "recursive_calls", n->recursive);
    json_classes(j, gv->g->functions, "self_by_class", &n->self);
    json_classes(j, gv->g->functions, "inclusive_by_class", &n->inclusive);
    json_arcs(j, "ancestors", gv, gv->g->callers + n->first_caller, n->caller_count, true);
}

static void
json_function(struct json *j, const struct graph_view *gv, uint32_t node)
{
    const struct callgraph *g = gv->g;
    const struct callgraph_node *n = &g->nodes[node];

    json_object(j, NULL);
    json_name(j, g, node);
    json_string(j, "module", functions_module(g->functions, node));
    json_string(j, "file", functions_file(g->functions, node));
    if (n->cycle == CALLGRAPH_NONE)
        json_string(j, "cycle", NULL);
    else
        json_uint(j, "cycle", g->nodes[n->cycle].number);
    json_node(j, gv, n);
    json_arcs(j, "descendants", gv, g->callees + n->first_callee, n->callee_count, false);
    json_end(j);
}

static void
json_cycle(struct json *j, const struct graph_view *gv, uint32_t node)
{
    const struct callgraph *g = gv->g;
    const struct callgraph_node *n = &g->nodes[node];

    json_object(j, NULL);
    json_uint(j, "cycle", n->number);
    json_uint(j, "index", n->index);
    json_node(j, gv, n);
    json_array(j, "functions");
    for (size_t i = 0; i < g->entry_count; i++)
        if (g->nodes[g->entries[i]].cycle == node)
            json_string(j, NULL, functions_label(g->functions, g->entries[i]));
    json_end(j);
    json_end(j);
}

void
json_callgraph(struct json *j, const struct view *v, const struct graph_view *gv)
{
    const struct callgraph *g = gv->g;

    json_object(j, NULL);
    json_head(j, "heaptap-callgraph", v->p, &v->stacks->total, &v->stacks->errors);
    json_string(j, "metric", metric_name(gv->metric));
    json_classes_of(j, g->functions);
    json_losses(j, v->p);
    json_int(j, "total_bytes", amount_sum(&g->total));
    json_array(j, "callgraph");
    for (size_t i = 0; i < gv->count; i++)
        if (gv->nodes[i] < g->function_count)
            json_function(j, gv, gv->nodes[i]);
    json_end(j);
    json_array(j, "cycles");
    for (size_t i = 0; i < gv->count; i++)
        if (gv->nodes[i] >= g->function_count)
            json_cycle(j, gv, gv->nodes[i]);
    json_end(j);
    json_end(j);
}

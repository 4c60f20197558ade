/* dot_callgraph.c: the call graph for Graphviz (graphviz.org describes the language).
 *
 *     digraph heaptap {
 *         n4 [label="make_widget\n1.9 MiB (100.0 %)\nitself 1.9 MiB", fillcolor="0.06 0.90 1.0"];
 *         n5 -> n4 [label="999.9 KiB", penwidth=3.0];
 *     }
 *
 * Functions of one cycle have the same border colour. The red of a function grows with the memory
 * that it allocates itself, the width of an arrow with the memory of the call.
 */
#include "text/text.h"

#include <inttypes.h>

enum { LABEL_NAME = 48 };

/* Append TEXT for the inside of double quotes. Line breaks are already written as \n. */
static void
put_quoted(struct strbuf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            strbuf_char(out, '\\');
        strbuf_char(out, *text);
    }
}

static double
dot_callgraph_share(int64_t part, int64_t whole)
{
    return whole > 0 && part > 0 ? (double)part / (double)whole : 0;
}

static const char *
value(struct arena *a, const struct amount *amount, enum metric metric)
{
    int64_t sum = amount_sum(amount);

    return metric_is_bytes(metric) ? style_bytes(a, sum) : style_count(a, sum);
}

static void
dot_callgraph_put_node(struct text_view *v, const struct graph_view *gv, uint32_t node)
{
    const struct callgraph *g = gv->g;
    const struct callgraph_node *n = &g->nodes[node];
    struct arena *a = v->base.arena;
    int64_t total = amount_sum(&g->total);

    strbuf_fmt(v->out, "    n%" PRIu32 " [label=\"", n->index);
    put_quoted(v->out, text_node(v, g, node, LABEL_NAME));
    strbuf_fmt(v->out, "\\n%s (%s)", value(a, &n->inclusive, gv->metric),
               style_percent(a, amount_sum(&n->inclusive), total));
    if (amount_sum(&n->self) != 0)
        strbuf_fmt(v->out, "\\nitself %s", value(a, &n->self, gv->metric));
    strbuf_fmt(v->out, "\", fillcolor=\"0.06 %.2f 1.0\"",
               0.9 * dot_callgraph_share(amount_sum(&n->self), total));
    if (n->cycle != CALLGRAPH_NONE)
        strbuf_fmt(v->out, ", color=\"%.3f 1.0 0.7\"", (double)(g->nodes[n->cycle].number % 8) / 8);
    strbuf_str(v->out, "];\n");
}

void
dot_callgraph(struct text_view *v, const struct graph_view *gv)
{
    const struct callgraph *g = gv->g;
    bool *shown = arena_array(v->base.arena, g->node_count, sizeof *shown);

    strbuf_str(v->out, "digraph heaptap {\n"
                       "    node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
                       "    edge [fontname=\"sans-serif\"];\n");
    for (size_t i = 0; i < gv->count; i++) {
        if (gv->nodes[i] >= g->function_count)
            continue;
        shown[gv->nodes[i]] = true;
        dot_callgraph_put_node(v, gv, gv->nodes[i]);
    }
    for (size_t i = 0; i < gv->count; i++) {
        const struct callgraph_node *n = &g->nodes[gv->nodes[i]];

        for (uint32_t k = 0; shown[gv->nodes[i]] && k < n->callee_count; k++) {
            const struct callgraph_arc *a = &g->arcs[g->callees[n->first_callee + k]];

            if (shown[a->callee])
                strbuf_fmt(
                    v->out, "    n%" PRIu32 " -> n%" PRIu32 " [label=\"%s\", penwidth=%.1f];\n",
                    n->index, g->nodes[a->callee].index,
                    value(v->base.arena, &a->amount, gv->metric),
                    1 + 5 * dot_callgraph_share(amount_sum(&a->amount), amount_sum(&g->total)));
        }
    }
    strbuf_str(v->out, "}\n");
}

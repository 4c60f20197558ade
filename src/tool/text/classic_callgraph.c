/* classic_callgraph.c: the call graph in the layout of the paper on mprof (1988).
 *
 *     index   self           self (%) |  size-ances |  frac-ances |   called/total    ancestors
 *             +                       |  size-func  |             |   called+recur  name [index]
 *             desc                    |  size-desc  |  frac-desc  |   called/total    descendants
 *     -----------------------------------s--m--l--x-----s--m--l--x--------------------------------
 *
 * Sizes are the size classes of an ancestor's or descendant's bytes; for Lisp, the classes c, f, s
 * and o of types, as in the paper's Lisp version. Fractions are the classes of all bytes that came
 * from ancestors or went to descendants; "all" is their sum. Between functions of one cycle only
 * calls are shown, as in the paper, because sums over pairs of caller and callee do not suffice for
 * more. The other layout also shows bytes there. */
#include "text/text.h"

#include <inttypes.h>

#include "view/table.h"

enum { NAME_WIDTH = 18 };

static void
put_percents(struct text_view *v, const struct amount *part, int64_t whole)
{
    strbuf_str(v->out, " |");
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++)
        strbuf_fmt(v->out, " %s", classic_percent(part->by_class[i], whole));
}

static void
classic_callgraph_put_rest(struct text_view *v, const char *called, const char *name)
{
    strbuf_fmt(v->out, " |%13s  %s\n", called, name);
}

/* Write the line of a caller or callee. WHOLE is the sum of all such lines. */
static void
put_arc(struct text_view *v, const struct amount *amount, const struct amount *entry,
        const struct amount *whole, const char *called, const char *name)
{
    strbuf_fmt(v->out, "%13s", "");
    style_right(v->out, classic_share_full(v->base.arena, amount_sum(amount), amount_sum(entry)),
                19);
    put_percents(v, amount, amount_sum(amount));
    put_percents(v, amount, amount_sum(whole));
    classic_callgraph_put_rest(v, called, name);
}

/* Write the line of a call between functions of one cycle. */
static void
put_inner(struct text_view *v, const char *called, const char *name)
{
    strbuf_fmt(v->out, "%32s |             |            ", "");
    classic_callgraph_put_rest(v, called, name);
}

static void
put_all(struct text_view *v, const struct amount *amount)
{
    strbuf_fmt(v->out, "%13s%13" PRId64 "      ", "all", amount_sum(amount));
    put_percents(v, amount, amount_sum(amount));
    strbuf_str(v->out, " |             |\n");
}

static const char *
arc_name(const struct text_view *v, const struct callgraph *g, uint32_t node)
{
    return arena_printf(v->base.arena, "  %s [%" PRIu32 "]", text_node(v, g, node, NAME_WIDTH),
                        g->nodes[node].index);
}

static bool
classic_callgraph_is_inner(const struct callgraph *g, const struct callgraph_arc *a)
{
    return g->nodes[a->caller].cycle != CALLGRAPH_NONE &&
           g->nodes[a->caller].cycle == g->nodes[a->callee].cycle;
}

static void
put_arcs(struct text_view *v, const struct callgraph *g, const struct callgraph_node *n,
         const uint32_t *arcs, size_t count, const struct amount *whole, bool up)
{
    for (size_t i = 0; i < count; i++) {
        const struct callgraph_arc *a = &g->arcs[arcs[i]];
        uint32_t other = up ? a->caller : a->callee;
        const char *called =
            arena_printf(v->base.arena, "%" PRId64 "/%" PRId64, a->amount.calls,
                         up ? g->nodes[other].calls_out : g->nodes[other].calls_in);

        if (classic_callgraph_is_inner(g, a))
            put_inner(v, called, arc_name(v, g, other));
        else
            put_arc(v, &a->amount, &n->inclusive, whole, called, arc_name(v, g, other));
    }
}

static void
classic_callgraph_put_function(struct text_view *v, const struct callgraph *g, uint32_t node)
{
    const struct callgraph_node *n = &g->nodes[node];
    const char *called = arena_printf(v->base.arena, "%" PRId64, n->called.calls);
    int64_t inclusive = amount_sum(&n->inclusive), total = amount_sum(&g->total);

    if (n->recursive)
        called = arena_printf(v->base.arena, "%s+%" PRId64, called, n->recursive);
    strbuf_fmt(v->out, "%-7s%6.1f", arena_printf(v->base.arena, "[%" PRIu32 "]", n->index),
               total > 0 ? 100.0 * (double)inclusive / (double)total : 0.0);
    style_right(v->out, classic_share_full(v->base.arena, amount_sum(&n->self), inclusive), 19);
    put_percents(v, &n->self, amount_sum(&n->self));
    strbuf_str(v->out, " | -----------");
    classic_callgraph_put_rest(v, called,
                               arena_printf(v->base.arena, "%s [%" PRIu32 "]",
                                            text_node(v, g, node, NAME_WIDTH), n->index));
}

static void
classic_callgraph_put_members(struct text_view *v, const struct callgraph *g, uint32_t cycle)
{
    for (size_t i = 0; i < g->entry_count; i++) {
        const struct callgraph_node *n = &g->nodes[g->entries[i]];

        if (n->cycle == cycle)
            put_inner(v, arena_printf(v->base.arena, "%" PRId64, n->called.calls),
                      arc_name(v, g, g->entries[i]));
    }
}

static void
classic_callgraph_put_entry(struct text_view *v, const struct callgraph *g, uint32_t node)
{
    const struct callgraph_node *n = &g->nodes[node];
    struct amount below = n->inclusive;

    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++)
        below.by_class[i] = counters_sum(below.by_class[i], -n->self.by_class[i]);
    if (n->caller_count > 1)
        put_all(v, &n->called);
    put_arcs(v, g, n, g->callers + n->first_caller, n->caller_count, &n->called, true);
    classic_callgraph_put_function(v, g, node);
    put_arcs(v, g, n, g->callees + n->first_callee, n->callee_count, &below, false);
    if (n->number)
        classic_callgraph_put_members(v, g, node);
    if (n->callee_count > 1)
        put_all(v, &below);
}

void
classic_callgraph(struct text_view *v, const struct graph_view *gv)
{
    const struct functions *f = gv->g->functions;
    const char *word = f->heap_classes != NULL ? "type" : "size";
    const char *rule = text_classic_rule(
        v, f,
        "------------------------------------s--m--l--x----s--m--l--x-----------------"
        "-------------\n");

    strbuf_fmt(v->out,
               "index   self          self (%%)  |  %s-ances |  frac-ances | called/total    "
               "ancestors\n"
               "           +                     |  %s-func  |             | called+recur  "
               "name [index]\n"
               "        desc                     |  %s-desc  |  frac-desc  | called/total    "
               "descendants\n",
               word, word, word);
    strbuf_str(v->out, rule);
    for (size_t i = 0; i < gv->count; i++) {
        classic_callgraph_put_entry(v, gv->g, gv->nodes[i]);
        strbuf_str(v->out, rule);
    }
}

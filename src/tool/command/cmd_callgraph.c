/* cmd_callgraph.c: `heaptap callgraph`: callers and callees on the paths to allocations.
 *
 * The graph of a large program has thousands of entries. Text shows the largest entries, or the
 * entry named by --function, from which a reader can follow its neighbours. JSON also charges
 * wrappers to their callers, as `heaptap functions` does. */
#include <stdlib.h>
#include <string.h>

#include "analyse/fold.h"
#include "command/runner.h"
#include "json/json.h"
#include "option/shared_opts.h"
#include "text/text.h"
#include "text/text_view.h"
#include "view/table.h"

enum { ARCS_SHOWN = 5, DOT_NODES = 60 };

struct callgraph_options {
    struct view_options view;
    struct metric_choice metric;
    const char *function;
    bool classic, dot, size_classes;
};
static const struct callgraph_options defaults = {.metric.metric = -1};

/* Quality of a match between a node's name and the wanted one; a higher value is better. */
enum match { MATCH_NONE, MATCH_PART, MATCH_PLAIN, MATCH_WHOLE };

static enum match
match_node(const struct callgraph *g, uint32_t node, const char *wanted)
{
    char plain[FOLD_NAME_MAX];
    const char *name;

    if (node >= g->function_count)
        return MATCH_NONE;
    name = functions_name(g->functions, node);
    if (strcmp(name, wanted) == 0)
        return MATCH_WHOLE;
    fold_plain_name(name, plain);
    if (strcmp(plain, wanted) == 0)
        return MATCH_PLAIN;
    return strstr(name, wanted) ? MATCH_PART : MATCH_NONE;
}

/* Parse an index as the table prints it, such as "[12]". Return false if TEXT is none. */
static bool
parse_index(const char *text, unsigned long *ret)
{
    char *end;

    if (*text != '[' || text[1] < '0' || text[1] > '9')
        return false;
    *ret = strtoul(text + 1, &end, 10);
    return strcmp(end, "]") == 0;
}

/* Store the entries that match WANTED best in RET. Return their number. */
static size_t
find_nodes(const struct callgraph *g, const char *wanted, uint32_t *ret)
{
    enum match best = MATCH_NONE;
    unsigned long index;
    size_t count = 0;

    if (parse_index(wanted, &index) && index < g->entry_count) {
        ret[0] = g->entries[index];
        return 1;
    }
    for (size_t i = 0; i < g->entry_count; i++) {
        enum match m = match_node(g, g->entries[i], wanted);

        if (m > best)
            count = 0;
        if (m == MATCH_NONE || m < best)
            continue;
        best = m;
        ret[count++] = g->entries[i];
    }
    return count;
}

/* Add the callers and callees of GV's nodes, each once, so that a picture shows the
 * surroundings. */
static void
add_neighbours(struct graph_view *gv, struct arena *arena)
{
    const struct callgraph *g = gv->g;
    uint32_t *all = arena_array(arena, g->node_count, sizeof *all);
    bool *wanted = arena_array(arena, g->node_count, sizeof *wanted);
    size_t count = 0;

    for (size_t i = 0; i < gv->count; i++) {
        const struct callgraph_node *n = &g->nodes[gv->nodes[i]];

        wanted[gv->nodes[i]] = true;
        for (uint32_t k = 0; k < n->caller_count; k++)
            wanted[g->arcs[g->callers[n->first_caller + k]].caller] = true;
        for (uint32_t k = 0; k < n->callee_count; k++)
            wanted[g->arcs[g->callees[n->first_callee + k]].callee] = true;
    }
    for (size_t i = 0; i < g->entry_count; i++)
        if (wanted[g->entries[i]])
            all[count++] = g->entries[i];
    gv->nodes = all;
    gv->count = count;
}

static void
put_graph(struct shown *s, struct graph_view *gv)
{
    const struct callgraph_options *o = s->runner->own;
    struct text_view *v = &s->text;
    size_t all = gv->count, most = o->dot ? DOT_NODES : TEXT_LIMIT;

    if (o->function || o->view.json || o->classic)
        most = SIZE_MAX;
    if (v->base.limit && !o->function)
        most = v->base.limit;
    gv->count = all < most ? all : most;
    if (o->dot && o->function)
        add_neighbours(gv, v->base.arena);
    if (o->dot) {
        dot_callgraph(v, gv);
    } else if (o->view.json) {
        json_callgraph(s->j, &v->base, gv);
    } else if (o->classic) {
        classic_callgraph(v, gv);
    } else {
        if (o->function == NULL) {
            text_header(v);
            strbuf_char(v->out, '\n');
        }
        text_callgraph(v, gv);
        text_more(v, gv->count, all, "function");
        text_prose(v, ATTR_DIM,
                   "[1] is a function: callers above, callees below; called 3/9: 3 of 9 "
                   "allocations");
        text_prose(v, ATTR_DIM,
                   "% of the total on a function's own line, of the function above and below it");
        text_classes_legend(v, gv->g->functions);
        text_losses(v, loss_stack_field_count);
    }
}

static int
cmd_callgraph_show(struct shown *s)
{
    const struct callgraph_options *o = s->runner->own;
    enum metric metric = metric_of_calls(&o->metric, o->view.at);
    struct arena *arena = s->text.base.arena;
    struct functions functions;
    struct callgraph g;
    struct graph_view gv = {.g = &g, .metric = metric, .arcs = ARCS_SHOWN};
    int rc = 0;

    functions_init(&functions, s->p, arena);
    if (!o->size_classes)
        functions_by_lisp_class(&functions);
    callgraph_build(&functions, &s->stacks, metric, arena, &g);
    gv.nodes = g.entries;
    gv.count = g.entry_count;
    if (o->function) {
        uint32_t *nodes = arena_array(arena, g.entry_count, sizeof *nodes);

        gv.count = find_nodes(&g, o->function, nodes);
        gv.nodes = nodes;
        gv.arcs = s->text.base.limit ? s->text.base.limit : SIZE_MAX;
    }
    if (o->function && gv.count == 0)
        rc = HEAPTAP_NOT_FOUND;
    else
        put_graph(s, &gv);
    functions_release(&functions);
    return rc;
}

static int
run_callgraph(const void *given, int count, char **arguments)
{
    const struct callgraph_options *o = given;
    const enum metric metric = metric_of_calls(&o->metric, o->view.at);
    const struct runner r = {
        .options = &o->view,
        .own = o,
        .session = o->dot ? SESSION_SUM : SESSION_TITLES,
        .for_programs = o->dot,
        .metric = &metric,
        .show = cmd_callgraph_show,
    };
    int rc;

    if (o->dot && (o->view.json || o->classic)) {
        message_error("--dot, --json and --classic are three forms; choose one");
        return EXIT_USAGE;
    }
    rc = runner_run(&r, count > 0 ? arguments[0] : NULL);
    if (rc != HEAPTAP_NOT_FOUND)
        return rc;
    message_error("no function of the call graph matches '%s'", o->function);
    return EXIT_BAD_INPUT;
}

static const struct opt options[] = {
    {OPT_STRING, 0, "function", &defaults.function, "NAME",
     "Show only NAME, with all its callers and callees: a complete name, one without parameters, a "
     "part of one, or an index such as [12].",
     NULL},
    METRIC_OPTIONS(defaults.metric,
                   "The metric to sort by and show: bytes in use, bytes at the peak, bytes "
                   "allocated (the default, except --at peak), short-lived blocks, or the count of "
                   "allocations."),
    {OPT_FLAG, 0, "classic", &defaults.classic, NULL,
     "Print the layout of the paper on mprof (1988): percentages of two characters, cut to 99 and "
     "blank below 1.",
     NULL},
    {OPT_FLAG, 0, "size-classes", &defaults.size_classes, NULL,
     "Divide by size of block also if the program is in Lisp.", NULL},
    {OPT_FLAG, 0, "dot", &defaults.dot, NULL,
     "Write the graph of the largest functions for Graphviz, or of NAME and those beside it.",
     NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N functions, or, with --function, N callers and callees. The default is 10, 60 "
     "with --dot, and all in JSON, with --classic and with --function.",
     NULL},
    VIEW_STACK_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_callgraph = {
    .name = "callgraph",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show functions with their callers and callees",
    .description =
        "Shows an entry for each function on the path to an allocation, the one with the most "
        "bytes first. Above the function are its callers, with the bytes they allocated through "
        "it. Below it are the bytes it allocated itself and through its callees. \"called\" counts "
        "allocations: for the function, those below a call of it, + its recursive calls; for a "
        "caller, those through this call / through all its calls; for a callee, those through this "
        "call / through all calls of it.\n"
        "\n"
        "Functions that call each other in a circle form a cycle, which also has an entry as a "
        "whole. All values come from whole stacks. A stack counts a function or call once, however "
        "often it recurs. So they are exact inside cycles, and never exceed the bytes allocated.\n"
        "\n"
        "The letters of a bar are the classes of `heaptap functions`: of sizes or, for Lisp, of "
        "types.",
    .examples =
        "heaptap callgraph app.heaptap\tthe largest functions\n"
        "heaptap callgraph --function parse_value app.heaptap\tone function, all around it\n"
        "heaptap callgraph --inuse --dot app.heaptap | dot -Tsvg >graph.svg\ta picture\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_callgraph,
};

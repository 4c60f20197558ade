/* cmd_functions.c: `heaptap functions`: show the functions that allocate directly. Unlike in other
 * views, JSON is folded as text is: a table that charges everything to operator new would be
 * useless. */
#include "command/runner.h"
#include "json/json.h"
#include "option/shared_opts.h"
#include "text/text.h"

struct functions_options {
    struct view_options view;
    struct metric_choice metric;
    bool classic, size_classes;
};
static const struct functions_options defaults = {.metric.metric = -1};

static int
cmd_functions_show(struct shown *s)
{
    const struct functions_options *o = s->runner->own;
    enum metric metric = metric_of_calls(&o->metric, o->view.at);
    const struct view *v = &s->text.base;
    struct functions functions;
    struct function_totals totals;

    functions_init(&functions, s->p, v->arena);
    if (!o->size_classes)
        functions_by_lisp_class(&functions);
    function_totals_build(&functions, &s->stacks, metric, v->arena, &totals);
    if (o->view.json)
        json_function_totals(s->j, v, &functions, &totals, metric, v->limit ? v->limit : SIZE_MAX);
    else if (o->classic)
        classic_function_totals(&s->text, &functions, &totals);
    else
        text_function_totals(&s->text, &functions, &totals, metric);
    functions_release(&functions);
    return 0;
}

static int
run_functions(const void *given, int count, char **arguments)
{
    const struct functions_options *o = given;
    const enum metric metric = metric_of_calls(&o->metric, o->view.at);
    const struct runner r = {
        .options = &o->view, .own = o, .metric = &metric, .show = cmd_functions_show};

    return runner_run(&r, count > 0 ? arguments[0] : NULL);
}

static const struct opt options[] = {
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
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N functions. The default is 10, and all in JSON and with --classic.", NULL},
    VIEW_STACK_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_functions = {
    .name = "functions",
    .alias = "direct",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show which functions allocate, by size of block",
    .description =
        "Shows each function that allocates directly: its share of the bytes allocated, the part "
        "that is kept (still live), and its calls. The first line has the totals. Functions that "
        "only pass an allocation on are left out and their callers are charged, also in JSON.\n\n"
        "The letters of a bar show the share of the total by class of size: s up to 32 bytes, m up "
        "to 256, l up to 2048, x above. For Lisp they are mprof's classes of types: c conses, f "
        "floats, s structures and vectors (also strings), o all others.\n\n"
        "Allocations before main begins and after it has returned (by the loader, constructors, "
        "exit handlers and destructors) have stacks that begin with \"(outside main)\".",
    .examples = "heaptap functions app.heaptap\tfunctions with their bytes and sizes\n"
                "heaptap functions --peak app.heaptap\tthe same for live bytes at the peak\n"
                "heaptap functions --classic app.heaptap\tas mprof printed it\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_functions,
};

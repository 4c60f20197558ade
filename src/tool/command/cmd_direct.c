/* cmd_direct.c: `heaptap direct`, the table of who allocates directly. Unlike in other views JSON
 * is folded as text is: a table that charges everything to operator new would be of no use.
 */
#include "option/metric_opts.h"
#include "option/opts.h"
#include "view/view.h"
#include "view/view_tables.h"

static struct {
    struct metric_choice metric;
    bool classic;
} opts = {.metric.metric = METRIC_ALLOC};

static int
direct_one(struct profile *p, struct arena *arena, struct json *j, struct strbuf *out)
{
    enum metric metric = metric_chosen(&opts.metric);
    struct functions functions;
    struct stacks stacks;
    struct direct direct;
    struct text_view v;
    int rc = view_check_metric(p, metric);

    if (rc == 0)
        rc = view_symbolise(p);
    if (rc == 0)
        rc = view_stacks(p, true, arena, &stacks);
    if (rc != 0)
        return rc;
    v = view_text(p, &stacks, arena, out);
    functions_init(&functions, p, arena);
    direct_build(&functions, &stacks, metric, arena, &direct);
    if (view_options.json)
        json_direct(j, &v, &functions, &direct, metric, v.limit ? v.limit : SIZE_MAX);
    else if (opts.classic)
        classic_direct(&v, &functions, &direct);
    else
        text_direct(&v, &functions, &direct, metric);
    functions_release(&functions);
    return 0;
}

static int
run_direct(int count, char **arguments)
{
    return view_each(count > 0 ? arguments[0] : NULL, VIEW_SESSION, direct_one);
}

static const struct opt options[] = {
    METRIC_OPTIONS(opts.metric,
                   "What to sort by and show: bytes in use, bytes at the peak, bytes allocated "
                   "(the default), temporary allocations, or the count of allocations."),
    {OPT_FLAG, 0, "classic", &opts.classic, NULL,
     "Print the layout of the paper on mprof (1988): percentages of two characters, cut to 99 and "
     "blank below 1.",
     NULL},
    {OPT_COUNT, 'n', "limit", &view_options.limit, "N",
     "Show at most N functions. The default is 10, and all in JSON and with --classic.", NULL},
    VIEW_STACK_OPTIONS,
    VIEW_SHOW_OPTIONS,
    {.kind = OPT_END},
};

const struct command command_direct = {
    .name = "direct",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show which functions allocate, by size of block",
    .description =
        "Shows for each function that allocates itself: its share of the bytes allocated, how much "
        "of it is kept (still live), and its calls. The first line has the totals. Functions that "
        "only pass an allocation on are left out and their caller is charged, in JSON too.\n\n"
        "The bars show the share of the total by letters, one for each class of size: s up to 32 "
        "bytes, m up to 256, l up to 2048, x above.\n\n"
        "What the loader and libraries did before main or after it stands in stacks that begin "
        "with \"(outside main)\".",
    .examples = "heaptap direct app.heaptap\twho allocates how much, in what sizes\n"
                "heaptap direct --peak app.heaptap\tthe same of what was live at the peak\n"
                "heaptap direct --classic app.heaptap\tas mprof printed it\n",
    .options = options,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_direct,
};

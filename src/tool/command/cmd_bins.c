/* cmd_bins.c: `heaptap bins`, which sizes were allocated and what they may be.
 *
 * Sizes are counted for the whole process, so there is no filter by stack.
 */
#include "option/opts.h"
#include "type/types.h"
#include "view/view.h"
#include "view/view_bins.h"
#include "view/view_json.h"

enum { TOP_DEFAULT = 20 };

static struct {
    uint64_t top;
    bool all, classic;
} opts;

/* How many rows are shown. */
static size_t
rows_wanted(void)
{
    if (opts.all || (opts.top == 0 && view_options.json))
        return SIZE_MAX;
    return opts.top ? opts.top : TOP_DEFAULT;
}

static int
bins_one(struct profile *p, struct arena *arena, struct json *j, struct strbuf *out)
{
    struct stacks stacks;
    struct text_view v;
    int rc = view_symbolise(p);

    if (rc == 0)
        rc = view_stacks(p, false, arena, &stacks);
    if (rc != 0)
        return rc;
    symbol_types(p, NULL);
    v = view_text(p, &stacks, arena, out);
    if (view_options.json)
        json_bins(j, &v, rows_wanted());
    else if (opts.classic)
        text_bins_classic(&v);
    else
        text_bins(&v, rows_wanted());
    return 0;
}

static int
run_bins(int count, char **arguments)
{
    return view_each(count > 0 ? arguments[0] : NULL, VIEW_SESSION, bins_one);
}

static const struct opt options[] = {
    {OPT_COUNT, 0, "top", &opts.top, "N",
     "Show the N sizes with most bytes, largest first. The default is 20, and all in JSON.", NULL},
    {OPT_FLAG, 0, "all", &opts.all, NULL, "Show all sizes, in order.", NULL},
    {OPT_FLAG, 0, "classic", &opts.classic, NULL,
     "Print the table as mprof did in 1988: all sizes, whole percentages.", NULL},
    VIEW_SHOW_OPTIONS,
    {.kind = OPT_END},
};

const struct command command_bins = {
    .name = "bins",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show which sizes were allocated, and of which types",
    .description =
        "Shows a row for each size from 0 to 1024 bytes that was allocated, and one for what is "
        "larger: allocations and their bytes, frees, and the bytes kept, that is, still live. "
        "Percentages are of all bytes and of all bytes kept.\n\n"
        "Types come from the debug information of the program and its libraries: each structure, "
        "union and class of that size. Those that the blocks are known to be come first, marked "
        "as certain or likely; `heaptap report --by type` shows them for all sizes. For C and C++ "
        "the source text is read, too, where it is at hand and not younger than the program.",
    .examples = "heaptap bins app.heaptap\tthe sizes with most bytes\n"
                "heaptap bins --all --wide app.heaptap\tall of them\n"
                "heaptap bins --json app.heaptap\tfor a script\n",
    .options = options,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_bins,
};

/* cmd_sizes.c: `heaptap sizes`: show allocations by size, with candidates for their types.
 *
 * Sizes are counted for the whole process, so they cannot be filtered by stack. For a part of the
 * run they are derived from the sites. */
#include "command/runner.h"
#include "json/json.h"
#include "open/symbolise.h"
#include "text/text.h"

enum { TOP_DEFAULT = 20 };

struct sizes_options {
    struct view_options view;
    uint64_t top;
    bool all, classic, classes;
};
static const struct sizes_options defaults;

/* Return the number of rows to show; SIZE_MAX = all. */
static size_t
rows_wanted(const struct sizes_options *o)
{
    if (o->all || (o->top == 0 && o->view.json))
        return SIZE_MAX;
    return o->top ? o->top : TOP_DEFAULT;
}

static int
cmd_sizes_show(struct shown *s)
{
    const struct sizes_options *o = s->runner->own;

    s->text.is_callerless = true;
    if (o->classes) {
        if (o->view.json)
            json_lisp_size_totals(s->j, &s->text.base);
        else
            text_lisp_size_totals(&s->text);
        return 0;
    }
    // Types are inferred from the sizes of a whole run, but a packed profile has them.
    if (s->p->extent == EXTENT_WHOLE || s->p->typed)
        symbolise_types(s->p, &o->view.symbols);
    if (o->view.json)
        json_size_totals(s->j, &s->text.base, rows_wanted(o));
    else if (o->classic)
        classic_size_totals(&s->text);
    else
        text_size_totals(&s->text, rows_wanted(o));
    return 0;
}

static int
run_sizes(const void *given, int count, char **arguments)
{
    const struct sizes_options *o = given;
    const struct runner r = {
        .options = &o->view,
        .own = o,
        .stacks = STACKS_UNFOLDED,
        .keeps_native = true, // Only C code has types.
        .show = cmd_sizes_show,
    };

    return runner_run(&r, count > 0 ? arguments[0] : NULL);
}

static const struct opt options[] = {
    {OPT_COUNT, 0, "top", &defaults.top, "N",
     "Show the N sizes with most bytes, largest first. The default is 20, and all in JSON.", NULL},
    {OPT_FLAG, 0, "all", &defaults.all, NULL, "Show all sizes, in order.", NULL},
    {OPT_FLAG, 0, "classic", &defaults.classic, NULL,
     "Print the table as mprof did in 1988: all sizes, whole percentages.", NULL},
    {OPT_FLAG, 0, "classes", &defaults.classes, NULL,
     "Show the objects of a Lisp program by class, as mprof did: c (conses), f (floats), s "
     "(structures, vectors, strings), o (others), and the types in each.",
     NULL},
    VIEW_TIME_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_sizes = {
    .name = "sizes",
    .alias = "bins",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show allocations by size, with the types of that size",
    .description =
        "Shows a row for each allocated size from 0 to 1024 bytes, and one for all larger sizes: "
        "allocations and their bytes, frees, and the bytes kept, that is, still live. Percentages "
        "are of all bytes and of all bytes kept.\n\n"
        "Types come from the debug information of the program and its libraries: each structure, "
        "union and class of that size. Types that the blocks are known to have are listed first, "
        "marked as certain or likely; `heaptap report --by type` shows them for all sizes. For C "
        "and C++ the source text is also read, if it exists and is not younger than the "
        "program.\n\n"
        "With --at and --between the rows come from the stacks. Each stack whose blocks have one "
        "size in the whole run adds to the row of that size. A row such as \"17 to 30\" has the "
        "blocks of stacks with several sizes.",
    .examples = "heaptap sizes app.heaptap\tthe sizes with most bytes\n"
                "heaptap sizes --all --wide app.heaptap\tall of them\n"
                "heaptap sizes --json app.heaptap\tfor a script\n"
                "heaptap sizes --between warm..end app.heaptap\tsince a snapshot\n"
                "heaptap bins --classes lisp.heaptap\tthe objects of a Lisp program\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_sizes,
};

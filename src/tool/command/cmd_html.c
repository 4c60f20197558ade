/* cmd_html.c: `heaptap html`, a profile as one page for any browser.
 *
 * What is in the page is a document (json/json_page.c), which --json prints. Of two profiles both
 * are in it, and the page compares them.
 */
#include "analyse/stack_numbers.h"
#include "command/names_hint.h"
#include "command/open_set.h"
#include "command/pick_stacks.h"
#include "command/sink.h"
#include "command/symbolise.h"
#include "json/json_page.h"
#include "option/metric_opts.h"

struct html_options {
    struct view_options view;
    struct metric_choice metric;
    const char *output;
};
static const struct html_options defaults = {.metric.metric = -1};

/* A profile, of a session the sum of its processes, symbolised, and its stacks. */
struct html_side {
    struct view_set set;
    struct stacks stacks;
    struct view view;
};

/* Stacks as recorded: the page folds. */
static struct stacks_options
options_of_stacks(const struct html_options *o)
{
    struct stacks_options ret = pick_options(&o->view, o->view.fold != NULL);

    ret.merge_labels = false;
    return ret;
}

static int
open_side(const struct html_options *o, const char *what, struct html_side *ret)
{
    struct stacks_options options;
    int rc = set_open(what, &o->view, &ret->set);

    if (rc == 0)
        rc = set_merge(&ret->set, what ? what : "the session", &o->view, SET_WITH_HISTORY);
    if (rc == 0)
        rc = symbolise(ret->set.v[0], &o->view.symbols);
    if (rc != 0)
        return rc;
    symbolise_types(ret->set.v[0], &o->view.symbols);
    options = options_of_stacks(o);
    rc = pick_stacks(ret->set.v[0], &options, &ret->set.arena, &ret->stacks);
    if (rc != 0)
        return rc;
    stack_numbers(ret->set.v[0], &ret->stacks);
    ret->view = (struct view){.p = ret->set.v[0],
                              .stacks = &ret->stacks,
                              .filter = o->view.filter,
                              .tags = o->view.tags,
                              .arena = &ret->set.arena};
    return 0;
}

static int
show(const struct html_options *o, struct html_side *side, struct html_side *before)
{
    const struct stacks_options options = options_of_stacks(o);
    struct sink to_stdout = {0};
    struct strbuf out = sink_begin(&to_stdout);
    const struct profile *p = side->set.v[0];
    struct json_page page = {
        .view = &side->view,
        .before = before ? &before->view : NULL,
        .metric = metric_was_chosen(&o->metric) ? metric_chosen(&o->metric)
                                                : metric_first(p, &side->stacks.total),
        .options = &options,
    };
    struct json j;

    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_page(&j, &page);
    return sink_end(&out);
}

static int
run_html(const void *given, int count, char **arguments)
{
    const struct html_options *o = given;
    struct html_side side = {0}, before = {0};
    struct names_hint hint = {0};
    const char *what = count > 0 ? arguments[count - 1] : NULL;
    int rc = 0;

    if (!o->view.json) {
        say_error("this heaptap was built without the page; --json prints what would be in it");
        return EXIT_USAGE;
    }
    if (count > 1)
        rc = open_side(o, arguments[0], &before);
    if (rc == 0)
        rc = open_side(o, what, &side);
    if (rc == 0) {
        names_hint_add(&hint, side.set.v[0], &side.stacks);
        rc = show(o, &side, count > 1 ? &before : NULL);
    }
    names_hint_say(&hint);
    set_close(&before.set);
    set_close(&side.set);
    return rc;
}

static const struct opt options[] = {
    METRIC_OPTIONS(defaults.metric,
                   "What the page shows first: bytes in use, bytes at the peak, bytes allocated, "
                   "short-lived blocks, or the count of allocations. The default is the peak, "
                   "unless nearly all of that is still in use."),
    VIEW_FOLD_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_html = {
    .name = "html",
    .arguments = "[PROFILE|PID|DIRECTORY] [OTHER]",
    .summary = "make one page of a profile, or of two, for any browser",
    .description = "Prints with --json all that a page of the profile has to know (docs/json.md): "
                   "of two profiles both. Of a session it is the sum of its processes.",
    .examples = "heaptap html --json app.heaptap\tthe data of a page\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 2,
    .run = run_html,
};

/* cmd_budget.c: `heaptap budget`: judge profiles by the rules of a file. */
#include <unistd.h>

#include "budget/budget_reports.h"
#include "command/budget_gate.h"
#include "command/sink.h"
#include "open/open_set.h"
#include "view/messages.h"

struct cmd_budget_options {
    struct view_options view;
    struct budget_options budget;
};
static const struct cmd_budget_options defaults = {.view.limit = 0};

/* Print the results of G. Returns as sink_end. */
static int
print_results(const struct cmd_budget_options *o, const struct budget_gate *g,
              const struct view_set *set)
{
    struct sink sink = {.is_text = !o->view.json, .set = set};
    struct strbuf out = sink_begin(&sink);
    struct style style = style_for(STDOUT_FILENO, o->view.wide);

    if (o->view.json)
        budget_json(&g->report, &out);
    else
        budget_text(&g->report, &style, false, &out);
    return sink_end(&out);
}

/* Judge the profiles of SET by G. Returns the exit code. */
static int
cmd_budget_judge(const struct cmd_budget_options *o, struct view_set *set, struct budget_gate *g)
{
    bool damaged = false;
    int rc, failed;

    for (size_t i = 0; i < set->count; i++) {
        damaged |= set->v[i]->damage != NULL;
        budget_gate_check(g, set->v[i], &o->view.symbols);
    }
    if (set->unread != 0)
        budget_gate_add_unknown(g, "a profile could not be read");
    failed = budget_gate_write(g);
    rc = print_results(o, g, set);
    if (rc != 0 || failed != 0)
        return rc != 0 ? rc : failed;
    return damaged || set->unread != 0 ? EXIT_BAD_INPUT : budget_exit(&g->report);
}

static int
run_budget(const void *given, int count, char **arguments)
{
    const struct cmd_budget_options *o = given;
    struct budget_gate g = {.options = &o->budget};
    struct view_set set = {0};
    int rc;

    if (o->budget.budget == NULL) {
        message_error("budget: --budget FILE is missing: the file with the rules");
        message_hint("heaptap budget --help explains the command");
        return EXIT_USAGE;
    }
    rc = budget_gate_open(&o->budget, &g);
    if (rc == 0) {
        rc = set_open(count > 0 ? arguments[0] : NULL, &o->view, &set);
        if (rc == 0)
            rc = cmd_budget_judge(o, &set, &g);
        set_close(&set);
    }
    budget_gate_close(&g);
    return rc;
}

static const struct opt options[] = {
    {OPT_STRING, 0, "budget", &defaults.budget.budget, "FILE",
     "File with the rules, one a line, such as \"peak <= 64M\" or \"allocations of callback == "
     "0\".",
     NULL},
    BUDGET_OPTIONS(defaults.budget),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_budget = {
    .name = "budget",
    .arguments = "--budget FILE [PROFILE|DIRECTORY]",
    .summary = "judge profiles by the rules of a file",
    .description =
        "Compares each process of a profile or session with the rules in FILE, and prints the "
        "result of each rule. The exit code is 1 if an amount is over its limit or nothing matches "
        "a rule, and 3 if numbers are missing that could exceed a limit.\n"
        "\n"
        "A rule consists of an amount, a comparison and a limit: \"peak <= 64M\". Amounts have "
        "the names of --fail-on. \"of\" restricts an amount to a function with all that it calls "
        "(\"leaks of load <= 1K\"), with \"self\" to its own allocations, or to a path, module, "
        "language, heap, label or type. \"==\" also refuses smaller amounts. \"maybe\" in front of "
        "a rule accepts that nothing matches the name.\n"
        "\n"
        "A limit is a sum of sizes, percentages and the word baseline: \"peak <= baseline + 2% + "
        "4K\". Sections such as [program cc1] and [test \"Codec.*\"] restrict the rules below them "
        "to processes of a program, and to blocks with a matching label \"test\".",
    .examples =
        "heaptap budget --budget budget.txt app.heaptap\tone profile\n"
        "heaptap budget --budget budget.txt --baseline old.heaptap new.heaptap\tand its growth\n"
        "heaptap budget --budget budget.txt --format json=out.json app.heaptap\talso as JSON\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_budget,
};

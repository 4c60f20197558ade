/* budget_gate.c: judge profiles by a budget, and write the results.
 *
 * The results own their texts, so each profile can be released as soon as it was judged. The
 * baseline is judged by the same rules as the new profiles: its results are the earlier amounts. */
#include "command/budget_gate.h"

#include <stdlib.h>
#include <string.h>

#include "budget/budget_reports.h"
#include "command/sink.h"
#include "open/open_set.h"
#include "open/pick_stacks.h"
#include "open/symbolise.h"
#include "option/budget_file.h"
#include "symbol/definitions.h"
#include "util/path.h"
#include "view/messages.h"
#include "view/table.h"

/* The rule of findings about processes that left no profile. */
static const struct budget_rule every_process = {
    .text = "every process is recorded", .what = "recording", .line = 1, .column = 1};

struct pattern_match {
    const char *pattern;
};

static bool
pattern_matches(void *arg, const char *function)
{
    const struct pattern_match *m = arg;
    struct arena scratch = {0};
    bool matches = budget_function_matches(m->pattern, function, &scratch);

    arena_release(&scratch);
    return matches;
}

static bool
budget_gate_defines(void *arg, const struct profile *p, const char *pattern)
{
    struct pattern_match m = {pattern};

    (void)arg;
    return definitions_any(p, pattern_matches, &m);
}

static int
compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Set *RET to the amounts of WHAT that the earlier results have. Returns as struct
 * budget_subject. */
static bool
find_values(void *arg, const char *program, const char *test, const char *what,
            struct budget_values *ret)
{
    const struct budget_gate *g = arg;
    struct arena scratch = {0};
    int64_t *values = arena_array(&scratch, g->earlier.count, sizeof *values);
    const struct budget_rule *rule = NULL; // Several rules may be about one amount.

    *ret = (struct budget_values){0};
    for (size_t i = 0; i < g->earlier.count; i++) {
        const struct budget_result *r = &g->earlier.v[i];

        if (!r->is_measured || r->outcome == BUDGET_ABSENT || strcmp(r->program, program) != 0 ||
            strcmp(r->rule->what, what) != 0 || (r->test == NULL) != (test == NULL) ||
            (test != NULL && strcmp(r->test, test) != 0) || (rule != NULL && r->rule != rule))
            continue;
        rule = r->rule;
        values[ret->runs++] = r->limit.value;
        if (ret->runs == 1 || r->limit.most > ret->most)
            ret->most = r->limit.most;
    }
    qsort(values, ret->runs, sizeof *values, compare_values);
    if (ret->runs != 0) {
        ret->smallest = values[0];
        ret->median = values[ret->runs / 2];
        ret->largest = values[ret->runs - 1];
    }
    arena_release(&scratch);
    return ret->runs != 0;
}

/* Judge P into REPORT, by the baseline if HAS_BASELINE. */
static void
budget_gate_judge(struct budget_gate *g, struct profile *p, const struct symbol_choice *symbols,
                  bool has_baseline, struct budget_report *report)
{
    const char *executable = p->process.executable ? p->process.executable : "";
    const struct view_options frames = {0};
    struct arena scratch = {0};
    struct budget_subject s = {.p = p,
                               .program = path_basename(executable),
                               .defines = budget_gate_defines,
                               .baseline = has_baseline ? find_values : NULL,
                               .arg = g};
    bool by_type = false;

    for (size_t i = 0; i < g->budget.count; i++)
        by_type |= g->budget.v[i].scope == BUDGET_TYPE;
    if (p->damage != NULL)
        s.untrue = p->damage;
    else if (!profile_was_recorded(p))
        s.untrue = "has no events, because recording was off from its start to its end";
    else if (!p->symbolised && symbolise_quietly(p, symbols) != 0)
        s.untrue = "could not be symbolised";
    else if (!p->process.ended)
        s.gap = "is of a process that still runs";
    else
        s.gap = loss_gap(&scratch, &p->losses, p->may_lag);
    if (s.untrue == NULL) {
        pick_frames(p, &frames, false);
        if (by_type && !p->typed)
            symbolise_types(p, symbols);
    }
    budget_judge(&g->budget, &s, &scratch, &g->arena, report);
    arena_release(&scratch);
}

void
budget_gate_check(struct budget_gate *g, struct profile *p, const struct symbol_choice *symbols)
{
    budget_gate_judge(g, p, symbols, g->options->baseline != NULL, &g->report);
}

void
budget_gate_add_unknown(struct budget_gate *g, const char *reason)
{
    struct budget_report *report = &g->report;

    report->budget = &g->budget;
    arena_grow(&g->arena, &report->v, &report->capacity, report->count, sizeof *report->v);
    report->v[report->count++] = (struct budget_result){.rule = &every_process,
                                                        .program = "",
                                                        .profile = "",
                                                        .outcome = BUDGET_UNKNOWN,
                                                        .reason =
                                                            arena_strdup(&g->arena, reason)};
}

/* Judge the profiles of the baseline. Returns 0, or the exit code after printing the error. */
static int
read_baseline(struct budget_gate *g)
{
    const struct view_options all = {0};
    struct view_set set;
    int rc;

    if (g->options->baseline == NULL)
        return 0;
    rc = set_open(g->options->baseline, &all, &set);
    for (size_t i = 0; rc == 0 && i < set.count; i++)
        budget_gate_judge(g, set.v[i], NULL, false, &g->earlier);
    if (rc == 0 && set.unread != 0)
        rc = set.unread;
    set_close(&set);
    return rc;
}

/* Return the format of SPEC, KIND=FILE, and set *RET_PATH to its file; NULL after printing an
 * error. */
static const struct budget_format *
format_of(const char *spec, const char **ret_path)
{
    size_t length = strcspn(spec, "=");
    struct strbuf names = {0};

    for (const struct budget_format *f = budget_formats; f->name != NULL; f++) {
        if (strlen(f->name) == length && memcmp(f->name, spec, length) == 0 &&
            spec[length] == '=' && spec[length + 1] != '\0') {
            *ret_path = spec + length + 1;
            strbuf_release(&names);
            return f;
        }
        strbuf_fmt(&names, "%s%s", names.length > 0 ? ", " : "", f->name);
    }
    message_error("option '--format': '%s' is no KIND=FILE with a KIND among %s", spec,
                  strbuf_text(&names));
    strbuf_release(&names);
    return NULL;
}

int
budget_gate_open(const struct budget_options *options, struct budget_gate *ret)
{
    struct strbuf errors = {0};
    const char *path;
    int rc;

    *ret = (struct budget_gate){.options = options};
    for (size_t i = 0; i < options->formats.count; i++)
        if (format_of(options->formats.items[i], &path) == NULL)
            return EXIT_USAGE;
    rc = budget_file_read(options->budget, &ret->arena, &ret->budget, &errors);
    for (char *line = errors.text; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');

        *end = '\0';
        message_error("%s", line);
        line = end + 1;
    }
    strbuf_release(&errors);
    return rc != 0 ? exit_code(rc) : read_baseline(ret);
}

void
budget_gate_close(struct budget_gate *g)
{
    arena_release(&g->arena);
}

int
budget_gate_write(struct budget_gate *g)
{
    int rc = 0;

    budget_judge_rest(&g->budget, &g->arena, &g->report);
    for (size_t i = 0; i < g->options->formats.count; i++) {
        const char *path = NULL;
        const struct budget_format *f = format_of(g->options->formats.items[i], &path);
        const struct view_set none = {.count = 0};
        struct sink sink = {.path = path, .set = &none};
        int failed = sink_check_input(path, g->options->budget, "budget");

        if (failed == 0) {
            struct strbuf out = sink_begin(&sink);

            f->write(&g->report, &out);
            failed = sink_end(&out);
        }
        rc = rc != 0 ? rc : failed;
    }
    return rc;
}

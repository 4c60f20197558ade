/* budget_judge.c: judge the rules of a budget.
 *
 * A rule is within its limit only if that is certain. A profile that lacks events, or whose stacks
 * lost their callers, may hide the rest of an amount. So an amount within its limit is unknown if
 * the missing part could exceed the limit, and unknown is a finding. An amount over its limit stays
 * over it, because missing parts only add to it.
 *
 * A baseline has the range of an amount in several runs. A growth counts from the largest of them.
 * For estimates it counts from the upper bound of the largest, to the lower bound of the new
 * amount, so noise alone is never a finding.
 *
 * A rule whose function nothing matches may be misspelt. It would hold for ever, so it is a finding
 * unless the rule says "maybe". */
#include "analyse/budget_judge.h"

#include <fnmatch.h>
#include <string.h>

#include "analyse/frame_name.h"

struct judging {
    const struct budget *budget;
    const struct budget_subject *subject;
    struct budget_meter *meter;
    struct arena *scratch, *keep;
    struct budget_report *report;
    const char *test; // Value of the label; NULL = the whole process.
};

bool
budget_is_for(const struct budget_rule *rule, const char *program)
{
    return rule->program == NULL || fnmatch(rule->program, program, 0) == 0;
}

bool
budget_is_finding(const struct budget_result *r)
{
    return r->outcome != BUDGET_WITHIN && r->outcome != BUDGET_LEFT_OUT;
}

int
budget_exit(const struct budget_report *report)
{
    int code = 0;

    for (size_t i = 0; i < report->count; i++) {
        enum budget_outcome o = report->v[i].outcome;

        if (o == BUDGET_OVER || o == BUDGET_UNDER || o == BUDGET_ABSENT)
            return 1;
        if (o == BUDGET_UNKNOWN)
            code = 3;
    }
    return code;
}

static void
budget_report_add(struct budget_report *ret, const struct budget_result *r, struct arena *keep)
{
    arena_grow(keep, &ret->v, &ret->capacity, ret->count, sizeof *ret->v);
    ret->v[ret->count++] = *r;
}

static const char *
text_or_empty(struct arena *arena, const char *text)
{
    return text != NULL && *text != '\0' ? arena_strdup(arena, text) : "";
}

/* Copy the frames of S to R. */
static void
keep_frames(const struct judging *g, const struct stack *s, struct budget_result *r)
{
    const struct profile *p = g->subject->p;
    uint32_t depth = s != NULL && s->depth > 0 ? stack_useful_depth(p, s) : 0;

    if (depth > BUDGET_FRAMES_MAX)
        depth = BUDGET_FRAMES_MAX;
    r->frames = arena_array(g->keep, depth, sizeof *r->frames);
    for (uint32_t i = 0; i < depth; i++) {
        const struct profile_frame *f = &p->frames[s->frames[i]];

        r->frames[r->frame_count++] = (struct budget_frame){
            .function = text_or_empty(g->keep,
                                      frame_name(p, s->frames[i], s->locations[i], g->scratch)),
            .file = text_or_empty(g->keep, profile_string(p, f->file)),
            .module = text_or_empty(g->keep, p->modules[f->module].path),
            .line = f->line,
        };
    }
}

/* Set the bounds of R's amount, and its limit. Return false, with the reason in R, if the limit is
 * not known. */
static bool
set_limit(const struct judging *g, const struct budget_rule *rule, const struct budget_measure *m,
          struct budget_result *r)
{
    const struct budget_subject *s = g->subject;
    struct limit_result *j = &r->limit;
    int64_t base = 0;

    limit_measure(j, &m->totals);
    r->is_measured = true;
    if (rule->of == LIMIT_PEAK)
        j->most = counters_sum(j->most, s->p->peak_error_bytes);
    if (s->baseline != NULL)
        r->has_values = s->baseline(s->arg, s->program, g->test, rule->what, &r->values);
    if (!rule->of_baseline) {
        if (rule->of == LIMIT_TEMPORARY)
            base = m->totals.counters.allocations;
        else if (rule->has_percent)
            base = metric_value(&m->whole.counters, limit_metric(rule->of));
        j->allowed = limit_allowed(base, rule->percent, rule->amount);
        return true;
    }
    if (!r->has_values) {
        r->reason = s->baseline != NULL
                        ? "the baseline lacks this amount; write it again with --accept"
                        : "the rule needs a baseline; give one with --baseline";
        return false;
    }
    j->before = r->values.largest;
    j->allowed = limit_allowed(r->values.largest, rule->percent, rule->amount);
    j->least = counters_difference(j->least, r->values.most);
    j->most = counters_difference(j->most, r->values.largest);
    return true;
}

/* Return the outcome of R, whose limit is set. */
static enum budget_outcome
outcome_of(const struct judging *g, const struct budget_measure *m, struct budget_result *r)
{
    const struct budget_rule *rule = r->rule;
    int64_t missing = metric_value(&m->missing, limit_metric(rule->of));
    bool is_cut = missing > 0 && (g->budget->allows & BUDGET_ALLOW_CUT_STACKS) == 0;

    limit_judge(&r->limit);
    if (r->limit.exceeded)
        return BUDGET_OVER;
    if (is_cut && counters_sum(counters_difference(r->limit.value, r->limit.before), missing) >
                      r->limit.allowed) {
        r->reason = "some stacks lost their callers, and their amount may belong to it; \"allow "
                    "cut-stacks\" accepts this";
        return BUDGET_UNKNOWN;
    }
    if (rule->is_exact &&
        r->limit.most < r->limit.allowed - (rule->of_baseline
                                                ? r->values.largest - r->values.smallest
                                                : 0))
        return BUDGET_UNDER;
    return BUDGET_WITHIN;
}

/* Return why R cannot be within its limit, although its amounts are; NULL = it can. */
static const char *
doubt(const struct judging *g, const struct budget_result *r)
{
    const struct budget_subject *s = g->subject;
    bool by_label = r->rule->test != NULL || r->rule->scope == BUDGET_LABEL;

    if (r->rule->of == LIMIT_CORRUPTION && !s->p->annotated)
        return "its blocks were recorded without --annotate, so overflows are unknown";
    if ((g->budget->allows & BUDGET_ALLOW_LOSSES) != 0)
        return NULL;
    if (s->gap != NULL)
        return arena_printf(g->keep, "its profile %s", s->gap);
    if (by_label && s->p->losses.label_sets != 0)
        return "some sets of labels found no room; \"allow losses\" accepts this";
    return NULL;
}

/* Find the function of user code behind R. */
static void
find_cause(const struct judging *g, const struct budget_measure *m, struct budget_result *r)
{
    struct limit_cause *c = &r->limit.cause;

    if (r->rule->of == LIMIT_CORRUPTION)
        return;
    limit_cause_of_value(limit_metric(r->rule->of),
                         &(struct diff_side){g->subject->p, &m->stacks}, g->scratch, c);
    if (c->function != NULL)
        c->function = arena_strdup(g->keep, c->function);
}

static void
judge_rule(const struct judging *g, const struct budget_rule *rule)
{
    const struct budget_subject *s = g->subject;
    struct budget_result r = {.rule = rule,
                              .program = arena_strdup(g->keep, s->program),
                              .pid = s->p->process.pid,
                              .profile = text_or_empty(g->keep, s->p->path),
                              .test = g->test ? arena_strdup(g->keep, g->test) : NULL,
                              .limit.of = rule->of,
                              .outcome = BUDGET_UNKNOWN};
    struct budget_measure m;
    struct err err = {""};
    const char *why;

    if (s->untrue != NULL) {
        r.reason = arena_printf(g->keep, "its profile %s", s->untrue);
    } else if (budget_meter_read(g->meter, rule, &m, &err) != 0) {
        r.reason = arena_strdup(g->keep, err.text);
    } else {
        bool is_limited = set_limit(g, rule, &m, &r);

        if (!m.is_found)
            r.outcome = rule->maybe ? BUDGET_LEFT_OUT : BUDGET_ABSENT;
        else if (is_limited)
            r.outcome = outcome_of(g, &m, &r);
        if (r.outcome == BUDGET_ABSENT)
            r.reason = "nothing in the process matches the name: misspelt, inlined or not "
                       "linked; \"maybe\" before the rule accepts this";
        why = r.outcome != BUDGET_OVER ? doubt(g, &r) : NULL;
        if (why != NULL) {
            r.reason = why;
            r.outcome = BUDGET_UNKNOWN;
        }
        keep_frames(g, m.largest, &r);
        if (r.outcome == BUDGET_OVER)
            find_cause(g, &m, &r);
    }
    budget_report_add(g->report, &r, g->keep);
}

/* Judge the rules for TEST; NULL = those for the whole process. */
static void
judge_test(struct judging *g, const char *test)
{
    bool picked = false;

    g->test = test;
    for (size_t i = 0; i < g->budget->count; i++) {
        const struct budget_rule *rule = &g->budget->v[i];

        if (!budget_is_for(rule, g->subject->program) || (rule->test == NULL) != (test == NULL) ||
            (test != NULL && fnmatch(rule->test, test, 0) != 0))
            continue;
        if (!picked && g->meter != NULL)
            budget_meter_pick(g->meter, test);
        picked = true;
        judge_rule(g, rule);
    }
}

void
budget_judge(const struct budget *b, const struct budget_subject *s, struct arena *scratch,
             struct arena *keep, struct budget_report *ret)
{
    // A damaged profile may lack the names that a meter needs.
    struct judging g = {b, s, s->untrue == NULL ? budget_meter_new(s, scratch) : NULL,
                        scratch, keep, ret, NULL};
    struct strtab tests = {0};

    ret->budget = b;
    judge_test(&g, NULL);
    for (size_t i = 0; i < s->p->label_set_count; i++) {
        const char *test = tags_value(&s->p->label_sets[i], BUDGET_TEST_LABEL);
        size_t before = tests.count;

        if (test == NULL || strtab_id(&tests, test) < before || *test == '\0')
            continue;
        judge_test(&g, test);
    }
    strtab_release(&tests);
    if (g.meter != NULL)
        budget_meter_free(g.meter);
}

void
budget_judge_rest(const struct budget *b, struct arena *keep, struct budget_report *ret)
{
    struct map judged = {0};

    ret->budget = b;
    for (size_t i = 0; i < ret->count; i++)
        map_put(&judged, (uintptr_t)ret->v[i].rule, NULL);
    for (size_t i = 0; i < b->count; i++) {
        const struct budget_rule *rule = &b->v[i];
        struct budget_result r = {.rule = rule,
                                  .program = rule->program ? rule->program : "",
                                  .profile = "",
                                  .test = rule->test,
                                  .limit.of = rule->of,
                                  .outcome = rule->maybe ? BUDGET_LEFT_OUT : BUDGET_UNKNOWN,
                                  .reason = rule->test ? "no test of this name was recorded"
                                                       : "no process of this name was recorded"};

        if (map_get(&judged, (uintptr_t)rule) == NULL)
            budget_report_add(ret, &r, keep);
    }
    map_release(&judged);
}

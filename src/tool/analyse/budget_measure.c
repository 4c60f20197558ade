/* budget_measure.c: sum the stacks that a rule is about.
 *
 * Each stack counts once, however often a function repeats on it, so recursion inflates nothing.
 * The call graph reads the functions of a stack in the same way (functions_of_stack). Inclusive
 * sums read stacks without folding, so that a rule can name a wrapper such as operator new. Self
 * sums and paths read folded stacks, so that a wrapper's blocks belong to its caller.
 *
 * A stack that lost its outer frames may have contained the function. Its amount is counted as
 * missing, and the caller decides whether the limit holds with it. */
#include "analyse/budget_judge.h"

#include <fnmatch.h>
#include <string.h>

#include "analyse/fold.h"
#include "analyse/totals.h"
#include "symbol/demangle.h"
#include "util/path.h"

enum { PATH_PARTS_MAX = 64 };

struct budget_meter {
    const struct budget_subject *subject;
    struct arena *arena;
    struct functions functions; // Functions on all stacks.
    const bool *only;           // Sites of the test; NULL = all.
    // Stacks of the test, without and with leaks only, unfolded and folded; NULL = not yet built.
    struct stacks *stacks[2][2];
};

/* The names of a rule, and which functions match them. */
struct name_match {
    const char *parts[PATH_PARTS_MAX]; // NULL = any number of functions.
    size_t count;
    struct map known; // Part and function to 1 or 2: no or yes.
};

bool
budget_function_matches(const char *pattern, const char *function, struct arena *arena)
{
    const char *anchored = arena_printf(arena, "^%s$", pattern);
    char plain[FOLD_NAME_MAX];

    if (glob_match(anchored, function))
        return true;
    fold_plain_name(function, plain);
    return glob_match(anchored, plain) ||
           glob_match(anchored, symbol_without_result(arena, function));
}

struct budget_meter *
budget_meter_new(const struct budget_subject *s, struct arena *arena)
{
    const struct stacks_options all = {.no_fold = true, .merge_labels = true};
    struct budget_meter *m = arena_alloc(arena, sizeof *m);
    struct stacks stacks;
    struct err err;

    m->subject = s;
    m->arena = arena;
    functions_init(&m->functions, s->p, arena);
    if (stacks_build(s->p, &all, arena, &stacks, &err) == 0)
        for (size_t i = 0; i < stacks.count; i++) {
            const uint32_t *ids;

            functions_of_stack(&m->functions, &stacks.v[i], &ids);
        }
    return m;
}

void
budget_meter_free(struct budget_meter *m)
{
    functions_release(&m->functions);
}

void
budget_meter_pick(struct budget_meter *m, const char *test)
{
    const struct profile *p = m->subject->p;
    bool *only = NULL;

    memset(m->stacks, 0, sizeof m->stacks);
    if (test != NULL) {
        only = arena_array(m->arena, p->site_count, sizeof *only);
        for (size_t i = 0; i < p->site_count; i++) {
            const char *value =
                tags_value(&p->label_sets[p->sites[i].labels], BUDGET_TEST_LABEL);

            only[i] = value != NULL && strcmp(value, test) == 0;
        }
    }
    m->only = only;
}

/* Build the stacks of the sites ONLY; with IS_LEAKS, only leaks. Returns as stacks_build. */
static int
build(struct budget_meter *m, const bool *only, bool is_leaks, bool is_folded,
      struct stacks *ret, struct err *err)
{
    const struct stacks_options options = {
        .only = only, .no_fold = !is_folded, .merge_labels = true};
    struct leaks leaks;
    int rc;

    if (!is_leaks)
        return stacks_build(m->subject->p, &options, m->arena, ret, err);
    rc = limit_find_leaks(m->subject->p, &options, m->arena, &leaks, err);
    if (rc == 0)
        *ret = leaks.stacks;
    return rc;
}

/* Set *RET to stacks of the test as build makes them. */
static int
stacks_of_test(struct budget_meter *m, bool is_leaks, bool is_folded, const struct stacks **ret,
               struct err *err)
{
    struct stacks **kept = &m->stacks[is_leaks][is_folded];

    if (*kept == NULL) {
        struct stacks *built = arena_alloc(m->arena, sizeof *built);
        int rc = build(m, m->only, is_leaks, is_folded, built, err);

        if (rc != 0)
            return rc;
        *kept = built;
    }
    *ret = *kept;
    return 0;
}

/* Return the sites of M's test that are in the scope of RULE: a heap, a label or a type. Set
 * *RET_FOUND to true if the whole process has such a scope. */
static const bool *
sites_of(struct budget_meter *m, const struct budget_rule *rule, bool *ret_found)
{
    const struct profile *p = m->subject->p;
    const struct tag_filter filter = {.heap = rule->scope == BUDGET_HEAP ? rule->name : NULL,
                                      .label = rule->scope == BUDGET_LABEL ? rule->name : NULL};
    bool *only = arena_array(m->arena, p->site_count, sizeof *only);
    struct tag_picks picks;

    tags_pick(p, &filter, m->arena, &picks);
    for (size_t i = 0; picks.heaps != NULL && i < p->heap_count; i++)
        *ret_found |= picks.heaps[i];
    for (size_t i = 0; picks.label_sets != NULL && i < p->label_set_count; i++)
        *ret_found |= picks.label_sets[i];
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];

        only[i] = rule->scope == BUDGET_TYPE
                      ? site->type != 0 &&
                            fnmatch(rule->name, profile_string(p, site->type), 0) == 0
                      : tags_keep(&picks, site);
        *ret_found |= rule->scope == BUDGET_TYPE && only[i];
        only[i] = only[i] && (m->only == NULL || m->only[i]);
    }
    return only;
}

/* Split the name of RULE into parts: the functions of a path, or a single name. */
static void
split_name(const struct budget_rule *rule, struct arena *arena, struct name_match *ret)
{
    static const char arrow[] = " > ";
    const char *next = rule->scope == BUDGET_PATH ? rule->name : NULL;

    ret->count = 0;
    if (next == NULL)
        ret->parts[ret->count++] = rule->name;
    while (next != NULL && ret->count < PATH_PARTS_MAX) {
        const char *end = strstr(next, arrow);
        const char *part = end ? arena_strndup(arena, next, (size_t)(end - next)) : next;

        ret->parts[ret->count++] = strcmp(part, "*") == 0 ? NULL : part;
        next = end ? end + sizeof arrow - 1 : NULL;
    }
}

/* Return true if PART of N matches FUNCTION. */
static bool
part_matches(struct budget_meter *m, struct name_match *n, size_t part, uint32_t function)
{
    bool is_new;
    uint64_t *known;

    if (function < FUNCTION_FIRST)
        return false;
    known = map_put(&n->known, (uint64_t)part << 32 | function, &is_new);
    if (is_new) {
        const char *name = functions_name(&m->functions, function);

        *known = budget_function_matches(n->parts[part], name, m->arena) ? 2 : 1;
    }
    return *known == 2;
}

/* Return true if the COUNT functions IDS, innermost first, are the path N. */
static bool
path_matches(struct budget_meter *m, struct name_match *n, const uint32_t *ids, size_t count)
{
    size_t part = 0, at = 0, star = SIZE_MAX, mark = 0;

    if (count > 0 && ids[count - 1] == FUNCTION_OUTSIDE_MAIN)
        count--;
    while (at < count) {
        if (part < n->count && n->parts[part] == NULL) {
            star = part++;
            mark = at;
        } else if (part < n->count && part_matches(m, n, part, ids[count - 1 - at])) {
            part++;
            at++;
        } else if (star != SIZE_MAX) {
            part = star + 1;
            at = ++mark;
        } else {
            return false;
        }
    }
    while (part < n->count && n->parts[part] == NULL)
        part++;
    return part == n->count;
}

/* Return true if the code of FUNCTION is in the scope of RULE: of a module or a language. */
static bool
code_matches(struct budget_meter *m, const struct budget_rule *rule, uint32_t function)
{
    const struct profile *p = m->subject->p;
    const char *module;

    if (function < FUNCTION_FIRST)
        return false;
    if (rule->scope == BUDGET_LANGUAGE) {
        uint32_t language = p->frames[m->functions.v[function].frame].language;

        return language != 0 && fnmatch(rule->name, profile_string(p, language), 0) == 0;
    }
    module = functions_module(&m->functions, function);
    return module != NULL && (fnmatch(rule->name, path_basename(module), 0) == 0 ||
                              fnmatch(rule->name, module, 0) == 0);
}

/* Return the index of the innermost function that puts a stack, the COUNT functions IDS, into the
 * scope of RULE; SIZE_MAX = it is outside. */
static size_t
stack_matches(struct budget_meter *m, const struct budget_rule *rule, struct name_match *n,
              const uint32_t *ids, size_t count)
{
    if (rule->scope == BUDGET_PATH)
        return path_matches(m, n, ids, count) ? 0 : SIZE_MAX;
    for (size_t i = 0; i < count && (i == 0 || !rule->self); i++)
        if (rule->scope == BUDGET_FUNCTION ? part_matches(m, n, 0, ids[i])
                                           : code_matches(m, rule, ids[i]))
            return i;
    return SIZE_MAX;
}

/* Return true if a function that matches each part of N exists, in a stack or in a file. For
 * modules and languages, only stacks are searched. */
static bool
scope_exists(struct budget_meter *m, const struct budget_rule *rule, struct name_match *n)
{
    const struct budget_subject *s = m->subject;
    bool by_name = rule->scope == BUDGET_FUNCTION || rule->scope == BUDGET_PATH;

    for (size_t i = 0; rule->scope == BUDGET_MODULE && i < s->p->module_count; i++)
        if (fnmatch(rule->name, path_basename(s->p->modules[i].path), 0) == 0 ||
            fnmatch(rule->name, s->p->modules[i].path, 0) == 0)
            return true;
    for (size_t part = 0; part < n->count; part++) {
        bool found = n->parts[part] == NULL;

        for (uint32_t f = FUNCTION_FIRST; !found && f < m->functions.count; f++)
            found = by_name ? part_matches(m, n, part, f) : code_matches(m, rule, f);
        if (!found && by_name && s->defines != NULL)
            found = s->defines(s->arg, s->p, n->parts[part]);
        if (!found)
            return false;
    }
    return true;
}

/* Add S of STACKS, whose frame with index FRAME matched, to RET. */
static void
budget_measure_add(struct budget_meter *m, const struct budget_rule *rule,
                   const struct stacks *stacks, const struct stack *s, size_t frame,
                   struct errors **errors, struct budget_measure *ret)
{
    enum metric metric = limit_metric(rule->of);

    counters_add(&ret->totals.counters, &s->counters);
    if (s->depth > 0)
        stack_errors_add(errors, stacks, s, (uint32_t)frame, m->arena);
    ret->stacks.v[ret->stacks.count++] = *s;
    if (ret->largest == NULL || metric_value(&s->counters, metric) >
                                    metric_value(&ret->largest->counters, metric))
        ret->largest = s;
}

/* Sum the stacks of STACKS that RULE is about. */
static void
sum_stacks(struct budget_meter *m, const struct budget_rule *rule, const struct stacks *stacks,
           struct budget_measure *ret)
{
    struct name_match names = {.count = 0};
    struct errors *errors = NULL;
    bool by_stack = rule->scope >= BUDGET_FUNCTION && rule->scope <= BUDGET_LANGUAGE;

    ret->stacks = *stacks;
    ret->stacks.v = arena_array(m->arena, stacks->count, sizeof *stacks->v);
    ret->stacks.count = 0;
    if (by_stack)
        split_name(rule, m->arena, &names);
    for (size_t i = 0; i < stacks->count; i++) {
        const struct stack *s = &stacks->v[i];
        const uint32_t *ids;
        size_t frame = 0;

        if (by_stack) {
            size_t count = functions_of_stack(&m->functions, s, &ids);

            frame = stack_matches(m, rule, &names, ids, count);
        }
        if (frame != SIZE_MAX)
            budget_measure_add(m, rule, stacks, s, frame, &errors, ret);
        else if (rule->self ? s->depth == 0 : stack_root(m->subject->p, s) != NULL)
            counters_add(&ret->missing, &s->counters);
    }
    ret->totals.errors = *errors_or_none(errors);
    if (by_stack)
        ret->is_found = scope_exists(m, rule, &names);
    map_release(&names.known);
}

int
budget_meter_read(struct budget_meter *m, const struct budget_rule *rule,
                  struct budget_measure *ret, struct err *err)
{
    const struct profile *p = m->subject->p;
    bool is_leaks = rule->of == LIMIT_LEAKS;
    bool is_folded = rule->self || rule->scope == BUDGET_PATH || rule->scope == BUDGET_ALL;
    bool by_site = rule->scope >= BUDGET_HEAP;
    const struct stacks *all;
    struct stacks of_sites;
    int rc = limit_check_range(rule->of, p, rule->scope != BUDGET_ALL, err);

    *ret = (struct budget_measure){.missing = COUNTERS_ZERO, .totals = {.p = p}};
    ret->totals.counters = COUNTERS_ZERO;
    if (rc == 0 && !metric_is_known_of(p, limit_metric(rule->of)))
        rc = err_set(err, HEAPTAP_USAGE, "the profile does not know the amount '%s'",
                     limit_name(rule->of));
    if (rc == 0)
        rc = stacks_of_test(m, is_leaks, is_folded, &all, err);
    if (rc != 0)
        return rc;
    ret->whole = (struct limit_totals){p, all->total, all->errors};
    if (by_site)
        rc = build(m, sites_of(m, rule, &ret->is_found), is_leaks, true, &of_sites, err);
    if (rc != 0)
        return rc;
    sum_stacks(m, rule, by_site ? &of_sites : all, ret);
    if (rule->scope == BUDGET_ALL || by_site) {
        ret->totals = (struct limit_totals){p, by_site ? of_sites.total : all->total,
                                            by_site ? of_sites.errors : all->errors};
        ret->missing = COUNTERS_ZERO;
    }
    if (rule->scope == BUDGET_ALL)
        ret->is_found = true;
    return 0;
}

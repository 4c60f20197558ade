/* run_limits.c: `run --fail-on leaks,peak=100M`: limits without a profile to compare with.
 *
 * Each process is judged separately, so the message names the one to look at. A failure of the
 * program takes precedence: only its success becomes a failure. A process without a profile fails,
 * because a gate must not pass what it has not seen; so does one whose recording was never on, as
 * it ended before --delay. A profile that lacks events fails even if its recorded values are within
 * the limits. A damaged profile always fails. */
#include "command/report_limits.h"

#include <string.h>
#include <unistd.h>

#include "budget/budget_reports.h"
#include "open/symbolise.h"
#include "option/opts.h"
#include "option/shared_opts.h"
#include "util/amount.h"
#include "util/path.h"
#include "util/shell_word.h"
#include "view/messages.h"
#include "view/style.h"
#include "view/table.h"

static const struct limit_rules rules = {.option = "fail-on", .names = (1u << LIMIT_KINDS) - 1};

const char *
run_limits_offered(size_t i)
{
    return limits_offered(&rules, i);
}

int
run_limits_parse(struct run_limits *r, const char *text, struct err *err)
{
    r->option = text == NULL ? "budget" : "fail-on";
    return text ? limits_parse(text, &rules, &r->limits, err) : 0;
}

/* Return true if R judges processes. */
static bool
run_limits_judge(const struct run_limits *r)
{
    return limits_are_given(&r->limits) || r->budget != NULL;
}

static const char *
run_limits_name_of(const struct profile *p, struct arena *arena)
{
    const char *executable = p->process.executable ? p->process.executable : "";

    return arena_printf(arena, "%s (pid %u)", *executable ? path_basename(executable) : "?",
                        p->process.pid);
}

/* Return the command that shows the cause of the first limit in J that is exceeded. */
static const char *
view_of(const struct limit_results *j)
{
    static const char *const views[] = {
        [LIMIT_PEAK] = "report --peak",   [LIMIT_INUSE] = "report --inuse",
        [LIMIT_LEAKS] = "leaks",          [LIMIT_ALLOC] = "report --alloc",
        [LIMIT_COUNT] = "report --count", [LIMIT_TEMPORARY] = "report --temporary",
        [LIMIT_CORRUPTION] = "report"};

    for (size_t i = 0; i < j->count; i++)
        if (j->v[i].exceeded)
            return views[j->v[i].of];
    return "report";
}

/* Report the limits in J that P exceeds. P is the process NUMBER, called NAME, which is from
 * ARENA. */
static void
run_limits_apply(struct run_limits *r, struct profile *p, size_t number,
                 struct limit_results *j, const char *name, struct arena *arena)
{
    const char *gap = loss_gap(arena, &p->losses, p->may_lag);
    bool exceeded;

    if (p->damage != NULL) {
        message_error("%s: --%s cannot judge it: its profile %s", name, r->option, p->damage);
        r->unknown = true;
        return;
    }
    if (!profile_was_recorded(p)) {
        message_error("%s: --%s cannot judge it: recording was off from its start to its end",
                      name, r->option);
        r->unknown = true;
        return;
    }
    if (limits_exceeded(j) && (p->symbolised || symbolise_quietly(p, NULL) == 0))
        limit_check_causes(p, arena, j);
    exceeded = report_limits(j, "fail-on", name);
    if (exceeded && !r->exceeded) {
        r->exceeded = true;
        r->view = view_of(j);
        r->first = number;
    } else if (!exceeded && gap != NULL) {
        message_error("%s: --%s cannot judge it: its profile %s", name, r->option, gap);
        r->unknown = true;
    } else if (!exceeded && r->limits.v[LIMIT_CORRUPTION].given && !p->annotated) {
        message_error("%s: --fail-on cannot judge corruption: its blocks could not be annotated, "
                      "as in a program that defines malloc",
                      name);
        r->unknown = true;
    }
}

void
run_limits_check(struct run_limits *r, struct profile *p, size_t number)
{
    struct arena arena = {0};
    struct limit_results checked;
    struct err err = {""};
    const char *name;

    if (!run_limits_judge(r))
        return;
    name = run_limits_name_of(p, &arena);
    if (!p->process.ended && p->damage == NULL) {
        message_warning("%s still runs, so --%s does not judge it", name, r->option);
    } else if ((!p->symbolised && r->limits.v[LIMIT_LEAKS].given &&
                symbolise_quietly(p, NULL) != 0) ||
               limit_check_profile(&r->limits, p, &arena, &checked, &err) != 0) {
        message_error("%s: --%s cannot judge it: %s", name, r->option, err.text);
        r->unknown = true;
    } else {
        r->checked++;
        if (limits_are_given(&r->limits))
            run_limits_apply(r, p, number, &checked, name, &arena);
    }
    if (r->budget != NULL && p->process.ended)
        budget_gate_check(r->budget, p, NULL);
    arena_release(&arena);
}

/* Report COUNT programs that were not recorded, because of CAUSE. NAME is the first program's, of
 * at most SIZE bytes. */
static void
report_not_recorded(const struct run_limits *r, int64_t count, const char *name, size_t size,
                    const char *cause, struct arena *arena)
{
    name = style_clean(arena, arena_strndup(arena, name, strnlen(name, size)));
    if (*name == '\0')
        name = style_plural(arena, count, "program");
    else if (count > 1)
        name = arena_printf(arena, "%s and other programs, in all %s", name,
                            style_count(arena, count));
    message_error("%s: --%s cannot judge %s: %s", name, r->option, count > 1 ? "them" : "it",
                  cause);
}

/* Report the programs that C counts as executed without the recorder's variables. Returns true if
 * there are any. */
static bool
report_executed(const struct run_limits *r, const struct unrecorded_counts *c, struct arena *arena)
{
    int64_t count = (int64_t)(__atomic_load_n(&c->executed, __ATOMIC_RELAXED) & INT64_MAX);

    if (count != 0)
        report_not_recorded(r, count, c->first, sizeof c->first,
                            "started without LD_PRELOAD and HEAPTAP_SESSION in the environment (as "
                            "by env -i), so not recorded; pass both on, or choose the programs to "
                            "judge by --only",
                            arena);
    return count != 0;
}

/* Report the processes that C counts as failed. Returns true if there are any. */
static bool
report_failed(const struct run_limits *r, const struct unrecorded_counts *c, struct arena *arena)
{
    int64_t count = (int64_t)(__atomic_load_n(&c->failed, __ATOMIC_RELAXED) & INT64_MAX);
    const struct unrecorded_failure *f = &c->first_failure;
    const char *cause = style_clean(
        arena, arena_strndup(arena, f->cause, strnlen(f->cause, sizeof f->cause)));

    if (count != 0)
        report_not_recorded(r, count, f->name, sizeof f->name,
                            *cause ? arena_printf(arena, "not recorded: %s", cause)
                                   : "not recorded",
                            arena);
    return count != 0;
}

/* Report the programs that C counts as executed by nested runs. */
static void
report_nested(const struct run_limits *r, const struct unrecorded_counts *c, struct arena *arena)
{
    int64_t count = (int64_t)(__atomic_load_n(&c->nested, __ATOMIC_RELAXED) & INT64_MAX);
    const char *first = style_clean(
        arena, arena_strndup(arena, c->first_nested,
                             strnlen(c->first_nested, sizeof c->first_nested)));

    if (count != 0)
        message_warning("a nested heaptap run recorded %s%s, so --%s does not judge %s; give "
                        "the nested run its own --%s",
                        *first ? first : style_plural(arena, count, "program"),
                        *first && count > 1
                            ? arena_printf(arena, " and other programs, in all %s",
                                           style_count(arena, count))
                            : "",
                        r->option, count > 1 ? "them" : "it", r->option);
}

/* Report the programs that C counts as impossible to record. */
static void
report_unrecordable(const struct run_limits *r, const struct unrecorded_counts *c,
                    struct arena *arena)
{
    static const char *const causes[] = {
        [UNRECORDABLE_NO] = "has an unknown format; choose the programs to judge by --only",
        [UNRECORDABLE_STATIC] = "is statically linked; link it with libheaptap_static.a",
        [UNRECORDABLE_FOREIGN] = "is built for another architecture; choose the programs to judge "
                                 "by --only",
        [UNRECORDABLE_MUSL] = "uses musl as its C library; link it statically with "
                              "musl/libheaptap_static.a",
        [UNRECORDABLE_RIGHTS] = "has more rights than its user (setuid); test it without them",
    };
    int64_t count = (int64_t)(__atomic_load_n(&c->unrecordable, __ATOMIC_RELAXED) & INT64_MAX);
    const char *first = style_clean(
        arena, arena_strndup(arena, c->first_unrecordable,
                             strnlen(c->first_unrecordable, sizeof c->first_unrecordable)));

    if (count != 0)
        message_warning("%s%s cannot be recorded, so --%s does not judge %s: %s %s",
                        *first ? first : style_plural(arena, count, "program"),
                        *first && count > 1
                            ? arena_printf(arena, " and other programs, in all %s,",
                                           style_count(arena, count))
                            : "",
                        r->option, count > 1 ? "them" : "it", count > 1 ? "the first" : "it",
                        causes[c->first_why < countof(causes) ? c->first_why : 0]);
}

static void
report_forked(const struct run_limits *r, int64_t count, struct arena *arena)
{
    message_warning("%s not recorded, because --reserve excludes forked processes, so --%s "
                    "does not judge %s",
                    count > 1 ? arena_printf(arena, "%s processes were", style_count(arena, count))
                              : "1 process was",
                    r->option, count > 1 ? "them" : "it");
}

/* Return true if OWN, a process of program NAME in which another malloc precedes the recorder's, is
 * recorded: that malloc calls the recorder's, or with --hook one of the COUNT recorded PROCESSES is
 * OWN. A pid does not suffice: a process may have left a profile before it executed OWN. */
static bool
own_malloc_is_recorded(const struct run_limits *r, const struct unrecorded_own_malloc *own,
                       const char *name, const struct run_process *processes, size_t count)
{
    if (__atomic_load_n(&own->calls_ours, __ATOMIC_ACQUIRE) != 0)
        return true;
    for (size_t i = 0; r->has_hooks && i < count; i++)
        if (processes[i].pid == own->pid && processes[i].executable != NULL &&
            (!r->starts_early || processes[i].totals.allocations != 0) &&
            strncmp(path_basename(processes[i].executable), name, sizeof own->name - 1) == 0)
            return true;
    return false;
}

/* Return why the process OWN is not recorded, and the remedy. */
static const char *
own_malloc_cause(const struct unrecorded_own_malloc *own, struct arena *arena)
{
    const char *library = style_clean(
        arena, arena_strndup(arena, own->library, strnlen(own->library, sizeof own->library)));

    if (*library == '\0')
        return "not recorded: a malloc linked into the program precedes the recorder's; link it "
               "with libheaptap.a in front of that malloc, or choose the programs to judge by "
               "--only";
    return arena_printf(arena,
                        "not recorded: the malloc of %s precedes the recorder's; preload it "
                        "behind the recorder (LD_PRELOAD=$LD_PRELOAD:%s), or choose the programs "
                        "to judge by --only",
                        library, library);
}

/* Report the processes that C lists with another malloc and that are not among the COUNT recorded
 * PROCESSES: those whose program defines it, or, if IN_LIBRARY, a library. Returns true if there
 * are any. */
static bool
report_own_malloc(const struct run_limits *r, const struct unrecorded_counts *c, bool in_library,
                  const struct run_process *processes, size_t count, struct arena *arena)
{
    uint64_t listed = __atomic_load_n(&c->own_mallocs, __ATOMIC_RELAXED);
    const char *first = "", *cause = "";
    int64_t missing = 0;

    for (size_t i = 0; i < listed && i < countof(c->own_malloc); i++) {
        const struct unrecorded_own_malloc *own = &c->own_malloc[i];
        const char *name =
            arena_strndup(arena, own->name, strnlen(own->name, sizeof own->name - 1));

        if ((own->library[0] != '\0') != in_library ||
            own_malloc_is_recorded(r, own, name, processes, count))
            continue;
        if (missing++ == 0) {
            first = arena_printf(arena, "%s (pid %u)", name, own->pid);
            cause = own_malloc_cause(own, arena);
        }
    }
    if (missing != 0)
        report_not_recorded(r, missing, first, strlen(first), cause, arena);
    return missing != 0;
}

void
run_limits_unrecorded(struct run_limits *r, const struct unrecorded_counts *c,
                      const struct run_process *processes, size_t count)
{
    struct arena arena = {0};
    int64_t forked;

    if (c == NULL)
        return;
    // Any process of the run may have written to this memory.
    forked = (int64_t)(__atomic_load_n(&c->forked, __ATOMIC_RELAXED) & INT64_MAX);
    if (forked != 0)
        report_forked(r, forked, &arena);
    report_nested(r, c, &arena);
    report_unrecordable(r, c, &arena);
    r->unknown |= report_executed(r, c, &arena);
    r->unknown |= report_failed(r, c, &arena);
    r->unknown |= report_own_malloc(r, c, false, processes, count, &arena);
    r->unknown |= report_own_malloc(r, c, true, processes, count, &arena);
    arena_release(&arena);
}

void
run_limits_lost(struct run_limits *r, const struct run_lost *l)
{
    struct arena arena = {0};

    if (l->running != 0)
        message_warning(
            "%s, so --%s does not judge %s",
            l->running > 1
                ? arena_printf(&arena, "%s and other processes, in all %s, still run",
                               style_clean(&arena, l->first_running),
                               style_count(&arena, (int64_t)l->running))
                : arena_printf(&arena, "%s still runs", style_clean(&arena, l->first_running)),
            r->option, l->running > 1 ? "them" : "it");
    if (l->ended != 0) {
        const char *first = l->first_ended != NULL ? l->first_ended : "";

        report_not_recorded(r, (int64_t)l->ended, first, strlen(first),
                            "no profile was found, although recording began: removed, moved or "
                            "overwritten, or written in another mount namespace or root "
                            "directory; choose the programs to judge by --only",
                            &arena);
        r->unknown = true;
    }
    arena_release(&arena);
}

void
run_limits_hint(const struct run_limits *r, const char *path)
{
    struct arena arena = {0};

    if (r->view != NULL)
        message_hint("heaptap %s %s shows where from", r->view, shell_word(&arena, path));
    arena_release(&arena);
}

void
run_limits_finish_budget(struct run_limits *r)
{
    struct style style = style_for(STDERR_FILENO, false);
    struct strbuf out = {0};

    if (r->budget == NULL)
        return;
    if (r->unknown)
        budget_gate_add_unknown(r->budget, "a process could not be judged");
    else if (r->checked == 0)
        budget_gate_add_unknown(r->budget, "no process that has ended left a profile");
    r->unknown |= budget_gate_write(r->budget) != 0;
    r->exceeded |= budget_exit(&r->budget->report) != 0;
    budget_text(&r->budget->report, &style, true, &out);
    ascii_strbuf(&out);
    fputs(strbuf_text(&out), stderr);
    strbuf_release(&out);
}

int
run_limits_status(const struct run_limits *r)
{
    if (!run_limits_judge(r))
        return 0;
    if (r->checked == 0 && !r->unknown)
        message_error("--%s: no process that has ended left a profile: nothing could be judged",
                      r->option);
    return r->exceeded || r->unknown || r->checked == 0 ? EXIT_OVER_LIMIT : 0;
}

/* view.c: from the argument WHAT to profiles that can be shown.
 *
 * Results go to stdout at the end, or, if they are large, while they are made, which is after all
 * that can be wrong with the input has been said; everything else (which file was taken, progress,
 * what was missing) goes to stderr, so that a pipe gets the view and nothing else.
 */
#include "view/view.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load/load.h"
#include "profile/at.h"
#include "profile/origin.h"
#include "symbol/symbol.h"
#include "view/sampling.h"
#include "view/view_json.h"

enum { PROCESSES_SHOWN = 20, PIDS_TOLD = 5, HEAPS_TOLD = 10 };

struct view_options view_options = {.depth = TEXT_DEPTH};

static const char *
newest_profile(struct arena *arena)
{
    const char *newest = NULL;
    struct timespec newest_time = {0};
    glob_t found = {0};
    int r = glob("*.heaptap", 0, NULL, &found);

    // With --only the first process of a run may have left none.
    if (r != 0)
        r = glob("*" ORIGIN_OTHERS_SUFFIX, 0, NULL, &found);
    if (r == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct stat st;

            if (stat(found.gl_pathv[i], &st) != 0)
                continue;
            if (newest && (st.st_mtim.tv_sec < newest_time.tv_sec ||
                           (st.st_mtim.tv_sec == newest_time.tv_sec &&
                            st.st_mtim.tv_nsec <= newest_time.tv_nsec)))
                continue;
            newest_time = st.st_mtim;
            newest = arena_strdup(arena, found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return newest;
}

/* Does one of the patterns in --only, separated by commas, describe the process id, the executable
 * or argument 0? */
static bool
is_picked(const struct profile *p, struct arena *arena)
{
    const char *executable = p->process.executable ? p->process.executable : "";
    const char *command = p->process.command ? p->process.command : "";
    const char *names[] = {
        arena_printf(arena, "%u", p->process.pid),
        arena_printf(arena, "%u", p->process.pid_here),
        path_basename(executable),
        path_basename(arena_strndup(arena, command, strcspn(command, " "))),
    };

    for (const char *only = view_options.only; *only != '\0'; only += *only == ',') {
        size_t length = strcspn(only, ",");
        const char *pattern = arena_strndup(arena, only, length);

        for (size_t i = 0; i < countof(names); i++)
            if (fnmatch(pattern, names[i], 0) == 0)
                return true;
        only += length;
    }
    return false;
}

static int
by_size(const void *a, const void *b)
{
    const struct profile *x = *(const struct profile *const *)a;
    const struct profile *y = *(const struct profile *const *)b;

    int64_t of_x = x->totals.partial ? counters_live_bytes(&x->totals) : x->totals.peak_bytes;
    int64_t of_y = y->totals.partial ? counters_live_bytes(&y->totals) : y->totals.peak_bytes;

    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->process.pid < y->process.pid ? -1 : x->process.pid > y->process.pid;
}

/* Cut P as --at or --between ask for. Returns 0 or a negative heaptap_errc. */
static int
cut(struct profile *p, struct err *err)
{
    struct profile_moment span[2];
    int rc = 0;

    if (view_options.between)
        rc = at_find_span(p, view_options.between, span, err);
    else if (view_options.at)
        rc = at_find(p, view_options.at, &span[1], err);
    if (rc == 0 && (view_options.between || view_options.at))
        profile_cut(p, view_options.between ? &span[0] : NULL, &span[1]);
    return rc;
}

/* Load PATHS into RET. A profile of a session that cannot be read is said and left out, unless it
 * was the only one. */
static int
load_all(const char **paths, size_t count, struct view_set *ret)
{
    struct err err = {""};
    int failure = 0;

    ret->v = arena_array(&ret->arena, count, sizeof *ret->v);
    for (size_t i = 0; i < count; i++) {
        struct profile *p;
        int rc = profile_open(paths[i], &p, &err);

        if (rc != 0) {
            say_error("%s", err.text);
            failure = exit_code(rc);
        } else if (view_options.only && !is_picked(p, &ret->arena)) {
            profile_free(p);
        } else if ((rc = cut(p, &err)) != 0) {
            say_error("%s", err.text);
            failure = exit_code(rc);
            profile_free(p);
        } else {
            ret->v[ret->count++] = p;
        }
    }
    qsort(ret->v, ret->count, sizeof(struct profile *), by_size);
    return ret->count ? 0 : failure;
}

int
view_open(const char *what, struct view_set *ret)
{
    const char **paths;
    struct err err = {""};
    size_t count;
    int rc;

    *ret = (struct view_set){0};
    if (view_options.at && view_options.between) {
        say_error("--at and --between exclude each other");
        return EXIT_USAGE;
    }
    if (what == NULL) {
        what = newest_profile(&ret->arena);
        if (what == NULL) {
            say_error(
                "there is no *.heaptap file in the current directory; name a profile, a pid or a "
                "session directory");
            return EXIT_USAGE;
        }
        fprintf(stderr, "heaptap: showing %s\n", style_clean(&ret->arena, what));
    }
    rc = profile_list_session(what, &ret->arena, &paths, &count, &err);
    if (rc != 0) {
        say_error("%s", err.text);
        return exit_code(rc);
    }
    rc = load_all(paths, count, ret);
    if (rc == 0 && ret->count == 0) {
        if (view_options.only)
            say_error("%s: no process of it is '%s'", what, view_options.only);
        else
            say_error("%s: there is no profile in it", what);
        return EXIT_BAD_INPUT;
    }
    return rc;
}

int
view_check_metric(const struct profile *p, enum metric metric)
{
    if (metric_is_known(&p->totals, metric))
        return 0;
    say_error("the metric '%s' is known of a whole run only, not of a moment or a stretch of time",
              metric_name(metric));
    return EXIT_USAGE;
}

void
view_close(struct view_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        profile_free(set->v[i]);
    arena_release(&set->arena);
}

static void
show_progress(void *arg, size_t done, size_t total)
{
    bool *shown = arg;

    fprintf(stderr, "\rheaptap: reading symbols, %zu of %zu\x1b[K", done, total);
    *shown = true;
}

static void
show_server(void *arg, enum symbol_server what, const char *path)
{
    bool *shown = arg;
    struct arena a = {0};

    if (isatty(STDERR_FILENO) && what == SERVER_ASKED) {
        fprintf(stderr, "\rheaptap: asking the server in DEBUGINFOD_URLS for %s\x1b[K",
                style_clean(&a, path_basename(path)));
        *shown = true;
    } else if (*shown) {
        fputs("\r\x1b[K", stderr);
    }
    if (what == SERVER_SILENT)
        say_warning("the server in DEBUGINFOD_URLS does not answer and is not asked any more; "
                    "DEBUGINFOD_TIMEOUT is how many seconds it gets, DEBUGINFOD_URLS= heaptap … "
                    "goes without");
    arena_release(&a);
}

int
view_symbolise_quietly(struct profile *p)
{
    bool shown = false;
    struct symbol_options options = {.server = show_server, .progress_arg = &shown};
    struct err err = {""};
    int rc;

    if (isatty(STDERR_FILENO))
        options.progress = show_progress;
    rc = symbol_resolve(p, &options, &err);
    if (shown)
        fputs("\r\x1b[K", stderr);
    if (rc == 0)
        return 0;
    say_error("%s", err.text);
    return exit_code(rc);
}

int
view_symbolise(struct profile *p)
{
    const char *const *hints;
    size_t hint_count;
    int rc = view_symbolise_quietly(p);

    if (rc != 0)
        return rc;
    for (size_t i = 0; i < p->note_count; i++)
        say_warning("%s", p->notes[i]);
    hint_count = symbol_hints(p, &hints);
    for (size_t i = 0; i < hint_count; i++)
        say_hint("%s", hints[i]);
    return 0;
}

struct stacks_options
view_stacks_options(bool fold)
{
    return (struct stacks_options){
        .tags = view_options.tags,
        .filter = view_options.filter,
        .fold = view_options.fold,
        .no_fold = view_options.no_fold || !fold,
        .merge_labels = !view_options.json,
    };
}

static bool
any(const bool *v, size_t count)
{
    for (size_t i = 0; v != NULL && i < count; i++)
        if (v[i])
            return true;
    return v == NULL;
}

/* The names of P's heaps, as far as they fit into a message. */
static const char *
heap_names(const struct profile *p, struct arena *arena)
{
    const char *text = p->heaps[0].name;
    size_t told = 1;

    for (size_t i = 1; i < p->heap_count; i++) {
        if (p->heaps[i].made == 0)
            continue;
        if (told++ == HEAPS_TOLD)
            return arena_printf(arena, "%s, \xe2\x80\xa6", text);
        text = arena_printf(arena, "%s, %s", text, p->heaps[i].name);
    }
    return text;
}

void
view_warn_of_tags(const struct profile *p, struct arena *arena)
{
    struct tag_picks picks;

    tags_pick(p, &view_options.tags, arena, &picks);
    if (!any(picks.heaps, p->heap_count))
        say_warning("process %u has no heap '%s'; there is %s", p->process.pid,
                    view_options.tags.heap, heap_names(p, arena));
    if (!any(picks.label_sets, p->label_set_count))
        say_warning("process %u has no label '%s'%s", p->process.pid, view_options.tags.label,
                    tags_has_labels(p) ? "; heaptap report --by label shows all" : " or any other");
}

int
view_stacks_with(const struct profile *p, const struct stacks_options *options, struct arena *arena,
                 struct stacks *ret)
{
    struct err err = {""};
    int rc = stacks_build(p, options, arena, ret, &err);

    if (rc == 0) {
        view_warn_of_tags(p, arena);
        return 0;
    }
    say_error("%s", err.text);
    return exit_code(rc);
}

int
view_stacks(const struct profile *p, bool fold, struct arena *arena, struct stacks *ret)
{
    struct stacks_options options = view_stacks_options(fold);

    return view_stacks_with(p, &options, arena, ret);
}

struct text_view
view_text(const struct profile *p, const struct stacks *stacks, struct arena *arena,
          struct strbuf *out)
{
    return (struct text_view){
        .p = p,
        .stacks = stacks,
        .filter = view_options.filter,
        .tags = view_options.tags,
        .style = style_for(STDOUT_FILENO, view_options.wide),
        .arena = arena,
        .out = out,
        .limit = view_options.limit,
        .depth = view_options.depth ? view_options.depth : TEXT_DEPTH,
    };
}

int
view_one(const struct view_set *set, const char *what)
{
    struct strbuf pids = {0};

    if (set->count == 1)
        return 0;
    for (size_t i = 0; i < set->count && i < PIDS_TOLD; i++)
        strbuf_fmt(
            &pids, "%s%u %s", i ? ", " : "", set->v[i]->process.pid,
            path_basename(set->v[i]->process.executable ? set->v[i]->process.executable : "?"));
    say_error("%s: %zu processes match (%s%s); pick one with --only PID, or name its file", what,
              set->count, strbuf_text(&pids), set->count > PIDS_TOLD ? ", ..." : "");
    strbuf_release(&pids);
    return EXIT_USAGE;
}

static void
fill_session(const struct view_set *set, struct table *t, struct counters *ret_total,
             struct errors *ret_errors)
{
    static const struct column columns[] = {
        {COLUMN_COUNT, "pid", NULL, true, NULL},
        {COLUMN_TEXT, NULL, "pid", true, NULL},
        {COLUMN_COUNT, "parent_pid", NULL, true, NULL},
        {COLUMN_TEXT, NULL, "parent", true, NULL},
        {COLUMN_COUNT, "allocations", "allocations", false, NULL},
        {COLUMN_BYTES, "allocated_bytes", "allocated", false, NULL},
        {COLUMN_BYTES, "peak_bytes", "peak", false, NULL},
        {COLUMN_BYTES, "live_bytes", "live", false, NULL},
        {COLUMN_TEXT, "program", "program", false, NULL},
        {COLUMN_TEXT, "command", NULL, false, NULL},
        {COLUMN_TEXT, "profile", NULL, false, NULL},
    };

    table_begin(t, t->arena, columns, countof(columns));
    for (size_t i = 0; i < set->count; i++) {
        const struct profile *p = set->v[i];
        const char *executable = p->process.executable;

        table_number(t, p->process.pid);
        table_string(t, arena_printf(t->arena, "%u", p->process.pid));
        table_number(t, p->process.parent_pid);
        table_string(t, arena_printf(t->arena, "%u", p->process.parent_pid));
        table_number(t, p->totals.allocations);
        table_number(t, p->totals.allocated_bytes);
        table_number(t, p->totals.partial ? TABLE_UNKNOWN : p->totals.peak_bytes);
        table_number(t, counters_live_bytes(&p->totals));
        table_string(t, executable && *executable ? path_basename(executable) : NULL);
        table_string(t, p->process.command);
        table_string(t, p->path);
        counters_add(ret_total, &p->totals);
        errors_add(ret_errors, &p->errors);
    }
}

void
view_session_text(const struct view_set *set, struct strbuf *out, struct arena *arena)
{
    struct style style = style_for(STDOUT_FILENO, view_options.wide);
    struct counters total = COUNTERS_ZERO;
    struct errors errors = {0};
    struct table t = {.arena = arena};
    size_t limit = view_options.limit ? view_options.limit : PROCESSES_SHOWN;
    uint64_t lost = 0;

    fill_session(set, &t, &total, &errors);
    for (size_t i = 0; i < set->count; i++)
        lost += set->v[i]->losses.events;
    strbuf_fmt(out, "%zu processes: %s allocations, %s in all%s\n", set->count,
               style_count(arena, total.allocations), style_bytes(arena, total.allocated_bytes),
               sampling_error(arena, &total, &errors, METRIC_ALLOC));
    strbuf_fmt(out, "%s %s in %s%s", view_options.between ? "live bytes grew by" : "still live",
               style_bytes(arena, counters_live_bytes(&total)),
               style_plural(arena, counters_live_blocks(&total), "block"),
               sampling_error(arena, &total, &errors, METRIC_INUSE));
    if (!total.partial)
        strbuf_fmt(out, "; the peaks added up %s%s", style_bytes(arena, total.peak_bytes),
                   sampling_error(arena, &total, &errors, METRIC_PEAK));
    strbuf_char(out, '\n');
    if (lost)
        strbuf_fmt(out, "%s not recorded\n", style_plural(arena, (int64_t)lost, "event"));
    strbuf_char(out, '\n');
    table_text(&t, &style, limit, out);
    if (set->count > limit)
        strbuf_fmt(out, "and %zu more with smaller peaks (--limit N shows more)\n",
                   set->count - limit);
}

void
view_session_json(const struct view_set *set, struct json *j, struct arena *arena)
{
    struct counters total = COUNTERS_ZERO;
    struct errors errors = {0};
    struct table t = {.arena = arena};

    fill_session(set, &t, &total, &errors);
    view_session_json_begin(j, &total, &errors);
    table_json(&t, j, "processes", SIZE_MAX);
    json_array(j, "profiles");
}

static const char *
pid_text(const struct profile *p, struct arena *arena)
{
    return p->merged_processes ? "" : arena_printf(arena, " (pid %u)", p->process.pid);
}

static int
show_each(const struct view_set *set, view_show_fn *show, struct arena *arena, struct strbuf *out)
{
    bool is_session = set->count > 1, found = false;
    struct json j;
    int rc = 0;

    json_begin(&j, out);
    if (view_options.json && is_session)
        view_session_json(set, &j, arena);
    for (size_t i = 0; i < set->count && rc <= 0; i++) {
        size_t before = out->length;

        if (is_session && !view_options.json)
            strbuf_fmt(out, "%s%s%s\n", found ? "\n" : "",
                       style_clean(arena, profile_title(set->v[i], arena)),
                       pid_text(set->v[i], arena));
        rc = show(set->v[i], arena, &j, out);
        found |= rc == 0;
        if (rc == HEAPTAP_NOT_FOUND && before < out->length)
            out->length = before;
    }
    if (rc <= 0 && view_options.json && is_session)
        view_session_json_end(&j);
    return rc == HEAPTAP_NOT_FOUND && found ? 0 : rc;
}

int
view_each(const char *what, enum view_of of, view_show_fn *show)
{
    struct strbuf out = view_output();
    struct view_set set;
    int rc = view_open(what, &set);

    if (rc == 0 && of == VIEW_SINGLE)
        rc = view_one(&set, what ? what : ".");
    if (rc == 0)
        rc = show_each(&set, show, &set.arena, &out);
    if (rc == 0)
        rc = view_print(&out);
    else
        strbuf_release(&out);
    view_close(&set);
    return rc;
}

/* Why the output could not be written; 0 = it could. */
static int print_error;

/* After a failure the rest goes nowhere; view_print tells. */
static void
drain_to_stdout(struct strbuf *out)
{
    if (print_error == 0 && fwrite(strbuf_text(out), 1, out->length, stdout) != out->length)
        print_error = errno;
    strbuf_clear(out);
}

struct strbuf
view_output(void)
{
    return (struct strbuf){.drain = drain_to_stdout};
}

int
view_print(struct strbuf *out)
{
    drain_to_stdout(out);
    if (print_error == 0 && fflush(stdout) != 0)
        print_error = errno;
    strbuf_release(out);
    if (print_error == 0 || print_error == EPIPE)
        return 0;
    say_error("the output could not be written: %s", strerror(print_error));
    return EXIT_BAD_INPUT;
}

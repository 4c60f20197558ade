/* view.c: from the argument WHAT to profiles that can be shown.
 *
 * Results go to stdout in one piece at the end; everything else (which file was taken, progress,
 * what was missing) goes to stderr, so that a pipe gets the view and nothing else.
 */
#include "cli/view.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbol.h"

struct view_options view_options = {.depth = TEXT_DEPTH};

static const char *
newest_profile(struct arena *arena)
{
    const char *newest = NULL;
    struct timespec newest_time = {0};
    glob_t found = {0};

    if (glob("*.heaptap", 0, NULL, &found) == 0) {
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

static bool
is_program(const struct profile *p, const char *program)
{
    const char *executable = p->process.executable ? p->process.executable : "";
    const char *command = p->process.command ? p->process.command : "";
    size_t length = strcspn(command, " "), n = strlen(program);

    if (strcmp(path_basename(executable), program) == 0)
        return true;
    return length >= n && strncmp(command + length - n, program, n) == 0 &&
           (length == n || command[length - n - 1] == '/');
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
        } else if (view_options.only && !is_program(p, view_options.only)) {
            profile_free(p);
        } else {
            ret->v[ret->count++] = p;
        }
    }
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
            say_error("%s: no process of it ran '%s'", what, view_options.only);
        else
            say_error("%s: there is no profile in it", what);
        return EXIT_BAD_INPUT;
    }
    return rc;
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

int
view_symbolise_quietly(struct profile *p)
{
    bool shown = false;
    struct symbol_options options = {.progress_arg = &shown};
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

int
view_stacks(const struct profile *p, bool fold, struct arena *arena, struct stacks *ret)
{
    struct stacks_options options = {
        .filter = view_options.filter,
        .fold = view_options.fold,
        .no_fold = view_options.no_fold || !fold,
    };
    struct err err = {""};
    int rc = stacks_build(p, &options, arena, ret, &err);

    if (rc == 0)
        return 0;
    say_error("%s", err.text);
    return exit_code(rc);
}

struct text_view
view_text(const struct profile *p, const struct stacks *stacks, struct arena *arena,
          struct strbuf *out)
{
    return (struct text_view){
        .p = p,
        .stacks = stacks,
        .filter = view_options.filter,
        .style = style_for(STDOUT_FILENO, view_options.wide),
        .arena = arena,
        .out = out,
        .limit = view_options.limit,
        .depth = view_options.depth ? view_options.depth : TEXT_DEPTH,
    };
}

void
view_session_text(const struct view_set *set, struct strbuf *out, struct arena *arena)
{
    static const struct column columns[] = {
        {COLUMN_TEXT, NULL, "pid", true, NULL},
        {COLUMN_COUNT, NULL, "allocations", false, NULL},
        {COLUMN_BYTES, NULL, "allocated", false, NULL},
        {COLUMN_BYTES, NULL, "peak", false, NULL},
        {COLUMN_BYTES, NULL, "live", false, NULL},
        {COLUMN_TEXT, NULL, "command", false, NULL},
    };
    struct style style = style_for(STDOUT_FILENO, view_options.wide);
    struct counters total = COUNTERS_ZERO;
    struct table t;

    table_begin(&t, arena, columns, countof(columns));
    for (size_t i = 0; i <= set->count; i++) {
        const struct profile *p = i < set->count ? set->v[i] : NULL;
        const struct counters *c = p ? &p->totals : &total;

        table_string(&t, p ? arena_printf(arena, "%u", p->process.pid) : "all");
        table_number(&t, c->allocations);
        table_number(&t, c->allocated_bytes);
        table_number(&t, c->peak_bytes);
        table_number(&t, counters_live_bytes(c));
        table_string(&t, p ? p->process.command
                           : arena_printf(arena, "%zu processes (peaks added up)", set->count));
        if (p)
            counters_add(&total, c);
    }
    table_text(&t, &style, SIZE_MAX, out);
}

int
view_print(struct strbuf *out)
{
    size_t written = fwrite(strbuf_text(out), 1, out->length, stdout);
    bool failed = written != out->length || fflush(stdout) != 0;
    int error = errno;

    strbuf_release(out);
    if (!failed || error == EPIPE)
        return 0;
    say_error("the output could not be written: %s", strerror(error));
    return EXIT_BAD_INPUT;
}

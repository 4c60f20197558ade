/* cmd_html.c: `heaptap html`: write a profile as one page for any browser.
 *
 * The page contains a document (json/json_page.c), which --json prints. html/page_writer.c inserts
 * the document into the template that the build made. With two profiles, the document has both, and
 * the page compares them.
 *
 * Without -o the output is a file, because a page is for a browser and not for a terminal. The file
 * gets a name that is unused, or replaces an existing page; with --force it replaces any file other
 * than a profile, as with -o.
 *
 * The page contains all moments and lets the reader choose one, so this command has no --at. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/stacks.h"
#include "command/browser.h"
#include "command/sink.h"
#include "html/page_writer.h"
#include "json/json.h"
#include "open/open_set.h"
#include "open/pick_stacks.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "profile/origin.h"
#include "util/path.h"
#include "view/phrases.h"
#include "view/style.h"

// Limits of one source file and of all source files, in bytes. A browser loads the whole page, and
// larger files are mostly generated.
#define SOURCE_BYTES (2 * MIB)
#define SOURCES_BYTES (32 * MIB)

struct html_options {
    struct view_options view;
    struct metric_choice metric;
    const char *output, *source_dir;
    bool source, force, open, json;
};
static const struct html_options defaults = {.metric.metric = -1};

/* A profile, or the sum of a session's processes. Symbolised, with its stacks. */
struct html_side {
    struct view_set set;
    const char *path; // Path of the profile, or of the largest process; from the set's arena.
    struct stacks stacks;
    struct view view;
};

/* The source files to include in the page. */
struct html_sources {
    const char *directory, *sysroot;
    struct strbuf text; // Text of the file read last.
    struct arena arena;
    uint64_t start_unix_ns; // Start of the recording; 0 = unknown.
    size_t bytes, found, too_large, missing, changed;
};

/* Return options for stacks as recorded, because the page folds them itself. */
static struct stacks_options
options_of_stacks(const struct html_options *o)
{
    struct stacks_options ret = pick_options(&o->view, false);

    ret.merge_labels = false;
    return ret;
}

static int
cmd_html_open_side(const struct html_options *o, const char *what, struct filter_hits *hits,
                   struct html_side *ret)
{
    struct stacks_options options = options_of_stacks(o);
    int rc = set_open(what, &o->view, &ret->set);
    struct profile *p;

    if (rc != 0)
        return rc;
    ret->path = arena_strdup(&ret->set.arena, what ? what : ret->set.v[0]->path);
    if (!o->json && o->output != NULL && (rc = sink_check(o->output, &ret->set)) != 0)
        return rc;
    rc = set_merge(&ret->set, ret->path, &o->view, SET_WITH_HISTORY);
    if (rc == 0)
        rc = symbolise(ret->set.v[0], &o->view.symbols);
    if (rc != 0)
        return rc;
    p = ret->set.v[0];
    if (p->damage != NULL)
        message_warning("%s", damage_sentence(&ret->set.arena, p));
    symbolise_types(p, &o->view.symbols);
    pick_frames(p, &o->view, !o->json);
    rc = pick_stacks(p, &options, &ret->set.arena, hits, &ret->stacks);
    if (rc != 0)
        return rc;
    stack_numbers(p, &ret->stacks);
    ret->view = (struct view){.p = p,
                              .stacks = &ret->stacks,
                              .filter = o->view.filter,
                              .tags = o->view.tags,
                              .arena = &ret->set.arena};
    return 0;
}

/* Return the page's file name for SIDE, without extension. */
static const char *
stem(const struct html_side *side, struct arena *arena)
{
    static const char *const ends[] = {".heaptap", ORIGIN_OTHERS_SUFFIX};
    char *path = arena_strdup(arena, side->path);
    size_t length = strlen(path);
    const char *name;
    uint32_t pid;

    if (origin_is_pid(path, &pid))
        return arena_printf(arena, "heaptap.%u", pid);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    for (size_t i = 0; i < countof(ends); i++) {
        size_t cut = strlen(ends[i]);

        if (length > cut && strcmp(path + length - cut, ends[i]) == 0)
            path[length - cut] = '\0';
    }
    name = path_basename(path);
    return *name == '\0' || *name == '.' ? "heaptap" : name;
}

/* Return true if PATH is a page and may be replaced by another. */
static bool
is_page(const char *path)
{
    char head[PAGE_HEAD_BYTES];
    struct stat st;
    int fd = regular_open(NULL, path, &st);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, head, sizeof head);
    close(fd);
    return n > 0 && page_is_ours(head, (size_t)n);
}

/* Store the path of the page in *RET: the requested file, NULL for stdout, or a file in the current
 * directory. Returns 0, or the exit code after printing an error. */
static int
choose_output(const struct html_options *o, const struct html_side *side,
              const struct html_side *before, struct arena *arena, const char **ret)
{
    const char *name;
    struct stat st;

    *ret = NULL;
    if (o->output != NULL && strcmp(o->output, "-") != 0) {
        *ret = o->output;
        return 0;
    }
    if (o->json)
        return 0;
    if (o->output != NULL) {
        if (!isatty(STDOUT_FILENO))
            return 0;
        message_error("stdout is a terminal and a page is for a browser; use -o FILE");
        return EXIT_USAGE;
    }
    name = stem(side, arena);
    if (before != NULL)
        name = arena_printf(arena, "%s-%s", stem(before, arena), name);
    name = arena_printf(arena, "%s.html", name);
    // A dangling symbolic link also blocks the name: writing through it would create a file at a
    // place that the link's creator chose.
    if (lstat(name, &st) == 0 && !is_page(name) && !(o->force && stat(name, &st) == 0)) {
        message_error("%s exists and is no page of heaptap; name the output with -o, or replace "
                      "the file with --force",
                      name);
        return EXIT_USAGE;
    }
    *ret = name;
    return sink_check(name, &side->set);
}

/* Return the text of the source FILE, or NULL if it is missing or too large. The callback of struct
 * json_page. */
static const char *
cmd_html_read_source(void *arg, const char *file)
{
    struct html_sources *s = arg;
    uint64_t changed_unix_ns;
    bool found;

    strbuf_clear(&s->text);
    found = source_read(s->directory, s->sysroot, file, &s->arena, &s->text, &changed_unix_ns);
    arena_release(&s->arena);
    if (!found) {
        s->missing++;
        return NULL;
    }
    if (s->text.length > SOURCE_BYTES || s->text.length > SOURCES_BYTES - s->bytes) {
        s->too_large++;
        return NULL;
    }
    s->found++;
    s->changed += s->start_unix_ns != 0 && changed_unix_ns > s->start_unix_ns;
    s->bytes += s->text.length;
    return s->text.text;
}

/* Report that PATH was written, and how many of the source files it contains. Returns the exit
 * code. */
static int
report_written(const char *path, const struct html_sources *s, struct arena *arena)
{
    size_t all = s->found + s->too_large + s->missing;
    const char *with = "";
    struct stat st;

    if (path == NULL || stat(path, &st) != 0)
        return 0;
    if (all > 0)
        with = arena_printf(arena, ", with %zu of %s", s->found,
                            style_plural(arena, (int64_t)all, "source file"));
    return sink_print(arena_printf(arena, "%s: %s%s\n", style_clean(arena, path),
                                   style_bytes(arena, st.st_size), with));
}

/* Print why source files are not in the page, and how to include them. */
static void
hint_at_sources(const struct html_sources *s, struct arena *arena)
{
    if (s->changed > 0)
        message_warning("%s since the recording, so amounts may be beside other lines",
                        s->changed == 1
                            ? "1 source file has changed"
                            : arena_printf(arena, "%zu source files have changed", s->changed));
    if (s->missing > 0 && s->directory == NULL)
        message_hint("%s missing, or not readable for everybody; name their directory with "
                     "--source-dir DIR",
                     s->missing == 1 ? "1 source file is"
                                     : arena_printf(arena, "%zu source files are", s->missing));
    if (s->too_large > 0)
        message_hint("%s left out: the page takes files of up to %s, and %s in all",
                     s->too_large == 1 ? "1 source file was"
                                       : arena_printf(arena, "%zu source files were", s->too_large),
                     style_bytes(arena, (int64_t)SOURCE_BYTES),
                     style_bytes(arena, (int64_t)SOURCES_BYTES));
}

/* Write the page of DOCUMENT to OUT, or with --json the document itself. */
static void
write_page(const struct html_options *o, const struct json_page *document, struct strbuf *out)
{
    struct page_writer w;
    struct json j;

    if (o->json) {
        json_begin(&j, out, JSON_VERSION_TABLES);
        json_page(&j, document);
        return;
    }
    page_begin(&w, page_template(), out);
    json_begin(&j, &w.data, JSON_VERSION_TABLES);
    json_page(&j, document);
    page_end(&w);
}

static int
cmd_html_show(const struct html_options *o, struct html_side *side, struct html_side *before)
{
    const struct stacks_options options = options_of_stacks(o);
    const struct profile *p = side->set.v[0];
    struct html_sources sources = {
        .directory = o->source_dir,
        .sysroot = p->sysroot,
        .start_unix_ns = p->merged_processes == 0 ? p->process.start_unix_ns : 0};
    struct json_page page = {
        .view = &side->view,
        .before = before ? &before->view : NULL,
        .metric = metric_was_chosen(&o->metric) ? metric_chosen(&o->metric)
                                                : metric_first(p, &side->stacks.total),
        .options = &options,
        .source = o->source || o->source_dir ? cmd_html_read_source : NULL,
        .source_arg = &sources,
    };
    struct arena *arena = &side->set.arena;
    struct sink sink = {.set = &side->set};
    struct strbuf out = sink_begin(&sink);
    int rc = choose_output(o, side, before, arena, &sink.path);

    if (rc == 0 && sink.path != NULL && before != NULL)
        rc = sink_check(sink.path, &before->set);
    if (rc != 0) {
        sink_abandon(&out);
        return rc;
    }
    write_page(o, &page, &out);
    rc = sink_end(&out);
    if (rc == 0) {
        rc = report_written(sink.path, &sources, arena);
        hint_at_sources(&sources, arena);
    }
    if (rc == 0 && o->open)
        rc = browser_open(sink.path);
    strbuf_release(&sources.text);
    return rc;
}

static int
run_html(const void *given, int count, char **arguments)
{
    const struct html_options *o = given;
    struct html_side side = {0}, before = {0};
    struct names_hint hint = {0};
    struct filter_hits hits = {0};
    int rc = 0;

    if (!o->json && page_template() == NULL) {
        message_error(
            "this heaptap was built without the page: run tools/setup build and make again; "
            "--json prints the data of a page");
        return EXIT_USAGE;
    }
    if (o->open && (o->json || (o->output != NULL && strcmp(o->output, "-") == 0))) {
        message_error("--open needs a page in a file; leave out %s", o->json ? "--json" : "-o -");
        return EXIT_USAGE;
    }
    if (o->source_dir != NULL && !symbolise_is_directory("source-dir", o->source_dir))
        return EXIT_USAGE;
    if (count > 1)
        rc = cmd_html_open_side(o, arguments[0], &hits, &before);
    if (rc == 0)
        rc = cmd_html_open_side(o, count > 0 ? arguments[count - 1] : NULL, &hits, &side);
    if (rc == 0) {
        if (count > 1)
            names_hint_add(&hint, before.set.v[0], &before.stacks, NULL);
        names_hint_add(&hint, side.set.v[0], &side.stacks, NULL);
        rc = cmd_html_show(o, &side, count > 1 ? &before : NULL);
    }
    if (rc == 0)
        pick_print_hits(&hits, &o->view);
    if (rc == 0)
        names_hint_print(&hint);
    else
        arena_release(&hint.arena);
    set_close(&before.set);
    set_close(&side.set);
    return rc;
}

static const struct opt options[] = {
    {OPT_STRING, 'o', "output", &defaults.output, "FILE",
     "Write to FILE and replace it if it exists; - is stdout. The default is the profile's name "
     "with .html at its end, in the current directory.",
     NULL},
    {OPT_FLAG, 0, "force", &defaults.force, NULL,
     "Without -o, also replace a file that is no page of heaptap. Profiles are never replaced.",
     NULL},
    {OPT_FLAG, 0, "open", &defaults.open, NULL,
     "Open the page in a browser: with the first command in BROWSER that exists, or with xdg-open. "
     "Does not wait for the browser.",
     NULL},
    {OPT_FLAG, 0, "source", &defaults.source, NULL,
     "Add the source text of the shown functions to the page, where it exists: files of up to 2 "
     "MiB, those of the largest stacks first, 32 MiB in all.",
     NULL},
    {OPT_STRING, 0, "source-dir", &defaults.source_dir, "DIR",
     "Look for source files under DIR first: DIR followed by the path in the debug information or "
     "any end of it. Implies --source.",
     NULL},
    METRIC_OPTIONS(defaults.metric,
                   "The metric that the page shows first: bytes in use, bytes at the peak, bytes "
                   "allocated, short-lived blocks, or the count of allocations. Default: the peak, "
                   "unless nearly all of it is still in use."),
    VIEW_FILTER_OPTION(defaults.view),
    VIEW_NATIVE_OPTION(defaults.view),
    VIEW_TAG_OPTIONS(defaults.view),
    SYMBOL_OPTIONS(defaults.view.symbols),
    {OPT_STRING, 0, "only", &defaults.view.only, "PROGRAM|PID",
     "In a session, select only processes of PROGRAM, or the process PID. Several, and * and ? in "
     "names, work as in heaptap run.",
     NULL},
    {OPT_FLAG, 0, "json", &defaults.json, NULL,
     "Print the page's data as JSON (docs/json.md), and", NULL},
    {.kind = OPT_END},
};

const struct command command_html = {
    .name = "html",
    .arguments = "[PROFILE|PID|DIRECTORY] [OTHER]",
    .summary = "make one page of a profile, or of two, for any browser",
    .description =
        "Writes a page for browsing and sharing a profile: one file that needs no server and no "
        "network. It begins with the code that holds the memory, and has tables by function, site, "
        "type, heap, label, thread and line, a flame graph, the curve of live bytes over time, "
        "callers and callees, sizes, leaks, and how it was recorded. Every function is a link to "
        "its details.\n"
        "\n"
        "A range of time or a moment selected in the curve applies to all tables. The page "
        "contains all moments, so there is no --at. Its address stores the current view behind #, "
        "so a link to it can be kept.\n"
        "\n"
        "With two profiles it shows the changes from the first to the second, by the rules of "
        "heaptap diff. For a session it shows the sum of all processes over time.\n"
        "\n"
        "The page contains everything in the profile: the command, paths of files, names of "
        "functions, labels; and with --source the text of sources.",
    .examples = "heaptap html\tthe newest profile here\n"
                "heaptap html --open app.heaptap\tin the browser at once\n"
                "heaptap html -o /tmp/now.html 4711\ta running process\n"
                "heaptap html --source app.heaptap\twith annotated sources\n"
                "heaptap html monday.heaptap today.heaptap\twhat changed\n"
                "heaptap html --json app.heaptap\tthe data, for a page of your own\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 2,
    .run = run_html,
};

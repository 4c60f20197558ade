/* cmd_source.c: `heaptap source`: show the source text with the memory that each line allocated.
 *
 * An unreadable source file is not a failure: its lines are listed without text. */
#include <stdio.h>

#include "analyse/source.h"
#include "command/runner.h"
#include "json/json.h"
#include "open/symbolise.h"
#include "profile/origin.h"
#include "text/text.h"
#include "text/text_view.h"

struct source_options {
    struct view_options view;
    const char *directory;
    bool self;
};
static const struct source_options defaults;

/* State of a command, shared by the runner's steps. */
struct source_run {
    const struct source_options *options;
    const char *what; // Function or file to show.
    // Language whose functions alone a process without a match shows; "" = none. LANGUAGE_BYTES.
    char *language;
    struct strtab *missing; // Files with a hint, so that a session has it once.
};

enum { LANGUAGE_BYTES = 32 };

/* Argument of cmd_source_read_source. */
struct source_reader {
    const struct source_options *options;
    struct strtab *missing;
    const char *sysroot;
    uint64_t start_unix_ns; // Start of the recording; 0 = unknown.
};

/* Read the source file PATH into RET, for struct source_text. Return false, after a hint, if it
 * cannot be read. */
static bool
cmd_source_read_source(void *arg, const char *path, struct arena *arena, struct strbuf *ret)
{
    const struct source_reader *r = arg;
    uint64_t changed_unix_ns;
    size_t known;

    if (source_read(r->options->directory, r->sysroot, path, arena, ret, &changed_unix_ns)) {
        if (r->start_unix_ns != 0 && changed_unix_ns > r->start_unix_ns)
            message_warning("%s has changed since the recording, so amounts may be beside other "
                            "lines",
                            path);
        return true;
    }
    known = r->missing->count;
    if (strtab_id(r->missing, path) < known)
        return false;
    message_hint(
        "%s: the source is missing or not readable for everybody, so only line numbers are "
        "shown; name its directory with --source-dir DIR",
        path);
    return false;
}

static int
cmd_source_show(struct shown *s)
{
    const struct source_run *run = s->runner->own;
    struct source_options o = *run->options;
    struct source source;
    struct source_reader reader = {&o, run->missing, s->p->sysroot,
                                   s->p->merged_processes == 0 ? s->p->process.start_unix_ns : 0};
    struct source_text text = {
        .source = &source, .self = o.self, .read = cmd_source_read_source, .read_arg = &reader};
    int rc = source_find(s->p, &s->stacks, run->what, s->text.base.arena, &source);

    if (rc == HEAPTAP_NOT_FOUND && s->p->language_only != 0)
        snprintf(run->language, LANGUAGE_BYTES, "%s", profile_string(s->p, s->p->language_only));
    if (rc == 0 && !o.view.json && !source.has_lines) {
        message_error(
            "'%s' was found in the profile, but without line information; compile with -g or "
            "install its debug information",
            run->what);
        return EXIT_BAD_INPUT;
    }
    if (rc != 0)
        return rc;
    if (o.view.json) {
        json_source(s->j, &s->text.base, &source);
    } else {
        text_incomplete(&s->text);
        text_source(&s->text, &text);
    }
    return 0;
}

static int
run_source(const void *given, int count, char **arguments)
{
    const struct source_options *o = given;
    char language[LANGUAGE_BYTES] = "";
    struct strtab missing = {0};
    struct disk_header header;
    const struct source_run run = {o, arguments[0], language, &missing};
    const struct runner r = {
        .options = &o->view,
        .own = &run,
        .session = SESSION_TITLES,
        .stacks = STACKS_FOLDED_IN_TEXT,
        .show = cmd_source_show,
    };
    int rc;

    if (o->directory != NULL && !symbolise_is_directory("source-dir", o->directory))
        return EXIT_USAGE;
    rc = runner_run(&r, count > 1 ? arguments[1] : NULL);
    strtab_release(&missing);
    if (rc != HEAPTAP_NOT_FOUND)
        return rc;
    if (count == 1 && origin_header(run.what, &header)) {
        message_error("'%s' is a profile; name a function or a source file before it", run.what);
        return EXIT_USAGE;
    }
    message_error("no function or file of the profile matches '%s'", run.what);
    if (*language != '\0')
        message_hint("only %s functions were searched; --no-language-only adds those in C",
                     language);
    return EXIT_BAD_INPUT;
}

static const struct opt options[] = {
    {OPT_STRING, 0, "source-dir", &defaults.directory, "DIR",
     "Look for source files under DIR first: DIR followed by the path in the debug information or "
     "any end of it.",
     NULL},
    {OPT_FLAG, 0, "self", &defaults.self, NULL,
     "Count only allocations by the line itself, without callees.", NULL},
    VIEW_STACK_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_source = {
    .name = "source",
    .arguments = "FUNCTION|FILE [PROFILE|PID|DIRECTORY]",
    .summary = "show source lines with their allocations",
    .description =
        "Shows the source of FILE (a path as the debug information has it, or the end of one) or "
        "of the functions called FUNCTION or, if there is none, of all whose name contains it. "
        "Each line begins with its live bytes, bytes at the peak, bytes allocated and calls. A "
        "star marks lines that allocate directly; other numbers come from their callees.",
    .examples =
        "heaptap source parse.c app.heaptap\tthe lines of a file\n"
        "heaptap source 'Parser::next' app.heaptap\tthe lines of a function\n"
        "heaptap source parse.c --source-dir ~/src/app app.heaptap\twhen the source was moved\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 1,
    .max_arguments = 2,
    .run = run_source,
};

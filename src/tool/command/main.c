/* main.c: the command `heaptap`: the list of commands, and the selection of one.
 *
 * The list below is the only one. Help, man pages, completion and the tests read it, so a command
 * listed there needs no other registration.
 *
 * Standard output carries results only. A mistake on the command line prints one sentence and, if
 * there is one, the likely spelling, and exits with 2. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/version.h"
#include "command/generate.h"
#include "format/environment.h"
#include "option/opts.h"
#include "util/amount.h"
#include "util/shell_word.h"
#include "view/style.h"

extern const struct command command_run, command_control, command_snapshot, command_timeline,
    command_pack, command_merge, command_report, command_leaks, command_sizes, command_functions,
    command_callgraph, command_source, command_diff, command_core, command_check, command_rss,
    command_rawdump, command_html, command_export, command_access, command_cc, command_cxx,
    command_attach, command_detach, command_retain, command_budget, command_top, command_serve;

static const struct command *const recording[] = {
    &command_run, &command_attach, &command_detach, &command_cc, &command_cxx, &command_control,
    &command_snapshot,
    &command_pack, &command_merge, NULL,
};
static const struct command *const showing[] = {
    &command_report,    &command_leaks,   &command_timeline, &command_sizes,
    &command_functions,    &command_callgraph, &command_source, &command_access,
    &command_diff,      &command_core,    &command_check,    &command_rss,
    &command_retain, &command_rawdump, &command_budget, &command_top, NULL,
};
static const struct command *const elsewhere[] = {
    &command_html, &command_export, &command_serve, NULL,
};
static const struct command_group groups[] = {
    {"Record a program", recording},
    {"Look at a profile", showing},
    {"Use it elsewhere", elsewhere},
    {NULL, NULL},
};

/* `heaptap help`; main() runs it, because it needs the groups. */
static const struct command command_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "list the commands, or explain COMMAND",
    .description = "heaptap COMMAND --help explains a command as well.",
    .examples = "heaptap help\tthe list of commands\n"
                "heaptap help run\tthe options of run\n",
};

static int run_command(const struct command *c, int count, char **arguments);
static size_t help_width(int fd);
static int help(int count, char **arguments);
static int help_all(void);
static int version(void);
static int unknown_command(const char *name);

/* Open /dev/null at the descriptors of closed standard streams. Otherwise a file opened later, such
 * as a profile or a program's pipe, would get such a descriptor and receive printed text. /dev/null
 * is opened read-only, so that writing to a closed output still fails, and close-on-exec. */
static void
fill_closed_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int
main(int argc, char **argv)
{
    const struct command *c;

    fill_closed_streams();
    if (argc < 2) {
        struct strbuf out = {0};

        help_overview(groups, help_width(STDERR_FILENO), &out);
        ascii_strbuf(&out);
        fputs(strbuf_text(&out), stderr);
        strbuf_release(&out);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help_all();
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return version();
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "generate") == 0)
        return generate(groups, argc - 2, argv + 2);
    c = command_find(groups, argv[1]);
    return c ? run_command(c, argc - 2, argv + 2) : unknown_command(argv[1]);
}

/* Print OUT and release it. Flushes here and not at exit, so that a full disk is reported. Returns
 * the exit code. */
static int
print_and_release(struct strbuf *out)
{
    bool failed;

    ascii_strbuf(out);
    failed = fputs(strbuf_text(out), stdout) == EOF || fflush(stdout) != 0;
    if (failed)
        message_error("standard output cannot be written: %s", strerror(errno));
    strbuf_release(out);
    return failed ? EXIT_BAD_INPUT : 0;
}

static size_t
help_width(int fd)
{
    size_t width = style_for(fd, false).width;

    return width < HELP_WIDTH_MAX ? width : HELP_WIDTH_MAX;
}

static int
help_for(const struct command *c)
{
    struct strbuf out = {0};

    help_command(c, help_width(STDOUT_FILENO), &out);
    return print_and_release(&out);
}

static int
help_all(void)
{
    struct strbuf out = {0};

    help_overview(groups, help_width(STDOUT_FILENO), &out);
    return print_and_release(&out);
}

static int
help(int count, char **arguments)
{
    const struct command *c;

    if (count == 0)
        return help_all();
    if (arguments[0][0] == '-' || strcmp(arguments[0], command_help.name) == 0)
        return help_for(&command_help);
    c = command_find(groups, arguments[0]);
    return c ? help_for(c) : unknown_command(arguments[0]);
}

static int
version(void)
{
    struct strbuf out = {0};

    strbuf_str(&out, "heaptap " HEAPTAP_VERSION "\n");
    return print_and_release(&out);
}

/* Print a hint at C's help after an error. Returns EXIT_USAGE. */
static int
usage_error(const struct command *c)
{
    message_hint("heaptap %s --help explains the command", c->name);
    return EXIT_USAGE;
}

/* Parse the arguments into OPTIONS, a copy of the defaults of C, and run C. Returns the exit
 * code. */
static int
run_with(const struct command *c, void *options, int count, char **arguments)
{
    struct err err = {""};
    int left = 0, rc;

    rc = opts_parse(c, options, count, arguments, &left, &err);
    if (rc == OPTS_HELP)
        return help_for(c);
    if (rc != 0) {
        message_error("%s: %s", c->name, err.text);
        return rc == HEAPTAP_USAGE ? usage_error(c) : exit_code(rc);
    }
    if (left < c->min_arguments) {
        message_error("%s: an argument is missing: heaptap %s %s", c->name, c->name, c->arguments);
        return usage_error(c);
    }
    if (c->max_arguments >= 0 && left > c->max_arguments) {
        message_error("%s: '%s' is one argument too many", c->name, arguments[c->max_arguments]);
        return usage_error(c);
    }
    for (int i = 0; i < left && !c->stop_at_first; i++)
        if (*arguments[i] == '\0') {
            message_error("%s: an argument is empty: heaptap %s %s", c->name, c->name,
                          c->arguments);
            return usage_error(c);
        }
    return c->run(options, left, arguments);
}

static int
run_command(const struct command *c, int count, char **arguments)
{
    void *options = xmalloc(c->defaults_bytes + 1);
    int rc;

    if (c->defaults)
        memcpy(options, c->defaults, c->defaults_bytes);
    rc = run_with(c, options, count, arguments);
    opts_release(c, options);
    free(options);
    return rc;
}

/* Print a hint if NAME, given as a command, is a program or a profile. */
static void
hint_at_file(const char *name)
{
    struct arena arena = {0};
    struct stat st;
    size_t length = strlen(name), suffix = strlen(PROFILE_SUFFIX);

    if (stat(name, &st) != 0)
        return;
    if (length > suffix && strcmp(name + length - suffix, PROFILE_SUFFIX) == 0)
        message_hint("to look at a profile: heaptap report %s", shell_word(&arena, name));
    else if (S_ISREG(st.st_mode) && access(name, X_OK) == 0)
        message_hint("to record a program: heaptap run %s%s", strchr(name, '/') ? "" : "./",
                     shell_word(&arena, name));
    arena_release(&arena);
}

static int
unknown_command(const char *name)
{
    struct suggestion s = {.word = name};

    if (name[0] == '-') {
        message_error("unknown option '%s'; the options of a command follow its name", name);
        message_hint("heaptap --help lists the commands");
        return EXIT_USAGE;
    }
    for (const struct command_group *g = groups; g->title != NULL; g++)
        for (const struct command *const *c = g->commands; *c != NULL; c++)
            suggest_offer(&s, (*c)->name);
    suggest_offer(&s, "help");
    if (s.nearest != NULL)
        message_error("unknown command '%s' (did you mean %s?)", name, s.nearest);
    else
        message_error("unknown command '%s'", name);
    hint_at_file(name);
    message_hint("heaptap --help lists the commands");
    return EXIT_USAGE;
}

/* help.c: --help from the tables.
 *
 *     usage: heaptap leaks [options] [PROFILE|PID|DIRECTORY]
 *
 *     Show what is still live, largest first.        <- summary
 *
 *     Lists the blocks that …                        <- description, wrapped
 *
 *     options:
 *       -n, --limit N         Show at most N …       <- label, help from HELP_COLUMN on
 *           --suppressions FILE
 *                             Leave out stacks …     <- a label too long for its column
 *     examples:
 *       heaptap leaks app.heaptap
 *           what is left
 *
 * A line exceeds the width only if a single word does; help.sh checks that no command's help
 * exceeds 80 columns. */
#include "option/opts.h"

#include <ctype.h>
#include <string.h>

#include "view/style.h"

enum { HELP_COLUMN = 24, NAME_COLUMN = 13 };

const struct help_exit_code help_exit_codes[] = {
    {0, "Success. heaptap run gives the exit code of the program instead."},
    {EXIT_FINDINGS,
     "A requested check failed: leaks over the limit, a difference over the threshold."},
    {EXIT_USAGE, "The command line is invalid."},
    {EXIT_BAD_INPUT,
     "A profile, file or process cannot be read or has the wrong kind, or a check met a damaged "
     "profile."},
    {EXIT_BUG, "A mistake in heaptap itself. Please report it."},
    {EXIT_OVER_LIMIT,
     "heaptap run --fail-on: the program succeeded, but used more than was allowed."},
    {0, NULL},
};

static void
pad(struct strbuf *out, size_t count)
{
    while (count-- > 0)
        strbuf_char(out, ' ');
}

void
help_wrap(struct strbuf *out, const char *text, size_t column, size_t indent, size_t width)
{
    bool line_empty = true;

    while (*text != '\0') {
        size_t gap = strspn(text, " "), length = strcspn(text + gap, " \n"), columns = 0;
        const char *word = text + gap;

        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)word[i] & 0xc0) != 0x80;
        if (!line_empty && column + 1 + columns > width) {
            strbuf_char(out, '\n');
            pad(out, indent);
            column = indent;
            line_empty = true;
        }
        if (!line_empty) {
            strbuf_char(out, ' ');
            column++;
        }
        strbuf_add(out, word, length);
        column += columns;
        line_empty = false;
        text = word + length;
        if (*text == '\n') {
            strbuf_char(out, '\n');
            text++;
            if (*text != '\n' && *text != '\0')
                pad(out, indent);
            column = indent;
            line_empty = true;
        }
    }
    if (!line_empty)
        strbuf_char(out, '\n');
}

void
help_synopsis(const struct command *c, struct strbuf *out)
{
    strbuf_fmt(out, "heaptap %s [options]", c->name);
    if (c->arguments != NULL && c->arguments[0] != '\0')
        strbuf_fmt(out, " %s", c->arguments);
}

void
help_option_label(const struct opt *o, struct strbuf *out)
{
    if (o->letter != 0)
        strbuf_fmt(out, "-%c, ", o->letter);
    strbuf_fmt(out, "--%s", o->name);
    if (opts_may_have_value(o))
        strbuf_fmt(out, "[=%s]", o->argument);
    else if (o->kind != OPT_FLAG)
        strbuf_fmt(out, " %s", o->argument);
}

void
help_choices(const struct opt *o, struct strbuf *out)
{
    if (!opts_has_choices(o))
        return;
    strbuf_str(out, " One of: ");
    for (int i = 0; o->choices[i] != NULL; i++)
        strbuf_fmt(out, "%s%s%s", i ? ", " : "", o->choices[i], opts_after_choice(o->choices[i]));
    strbuf_char(out, '.');
}

/* Append LABEL, then TEXT from COLUMN on. */
static void
labelled(struct strbuf *out, const char *label, const char *text, size_t column, size_t width)
{
    size_t used = style_width(label);

    strbuf_str(out, label);
    if (used + 1 > column) {
        strbuf_char(out, '\n');
        used = 0;
    }
    pad(out, column - used);
    help_wrap(out, text, column, column, width);
}

static void
option_help(const struct opt *o, size_t width, struct strbuf *out)
{
    struct strbuf label = {0}, text = {0};

    // Long names are aligned, with or without a letter before them.
    strbuf_str(&label, o->letter ? "  " : "      ");
    help_option_label(o, &label);
    strbuf_str(&text, o->help);
    help_choices(o, &text);
    labelled(out, strbuf_text(&label), strbuf_text(&text), HELP_COLUMN, width);
    strbuf_release(&label);
    strbuf_release(&text);
}

/* Append EXAMPLES, lines of "command\texplanation". */
static void
examples_help(const char *examples, size_t width, struct strbuf *out)
{
    enum { EXAMPLE_INDENT = 6 };

    strbuf_str(out, "\nexamples:\n");
    while (*examples != '\0') {
        size_t length = strcspn(examples, "\n");
        const char *tab = memchr(examples, '\t', length);
        struct strbuf text = {0};

        strbuf_str(out, "  ");
        strbuf_add(out, examples, tab ? (size_t)(tab - examples) : length);
        strbuf_char(out, '\n');
        if (tab) {
            strbuf_add(&text, tab + 1, length - (size_t)(tab + 1 - examples));
            pad(out, EXAMPLE_INDENT);
            help_wrap(out, strbuf_text(&text), EXAMPLE_INDENT, EXAMPLE_INDENT, width);
        }
        strbuf_release(&text);
        examples += length + (examples[length] == '\n');
    }
}

void
help_command(const struct command *c, size_t width, struct strbuf *out)
{
    struct strbuf line = {0};

    strbuf_str(&line, "usage: ");
    help_synopsis(c, &line);
    help_wrap(out, strbuf_text(&line), 0, NAME_COLUMN, width);
    strbuf_clear(&line);

    strbuf_fmt(&line, "\n%c%s.\n", toupper((unsigned char)c->summary[0]), c->summary + 1);
    if (c->description)
        strbuf_fmt(&line, "\n%s\n", c->description);
    if (c->alias)
        strbuf_fmt(&line, "\nheaptap %s is the same command.\n", c->alias);
    help_wrap(out, strbuf_text(&line), 0, 0, width);
    strbuf_release(&line);

    strbuf_str(out, "\noptions:\n");
    for (const struct opt *o = c->options; o && o->kind != OPT_END; o++)
        option_help(o, width, out);
    labelled(out, "  -h, --help", "Show this text.", HELP_COLUMN, width);
    if (c->examples)
        examples_help(c->examples, width, out);
}

void
help_overview(const struct command_group *groups, size_t width, struct strbuf *out)
{
    strbuf_str(out, "usage: heaptap COMMAND [options] [arguments]\n\n");
    strbuf_str(out, "heaptap is " HELP_SUMMARY ".\n");
    for (const struct command_group *g = groups; g->title != NULL; g++) {
        strbuf_fmt(out, "\n%s:\n", g->title);
        for (const struct command *const *c = g->commands; *c != NULL; c++) {
            struct strbuf label = {0};

            strbuf_fmt(&label, "  %s", (*c)->name);
            labelled(out, strbuf_text(&label), (*c)->summary, NAME_COLUMN, width);
            strbuf_release(&label);
        }
    }
    strbuf_str(out, "\nBegin with:\n"
                    "  heaptap run PROGRAM ARGUMENTS\n"
                    "  heaptap report\n\n"
                    "heaptap help COMMAND, or heaptap COMMAND --help, explains a command.\n"
                    "heaptap --version shows the version.\n\n"
                    "In the environment, COLUMNS is the width of text, 60 at least. Tables leave\n"
                    "out columns that do not fit; JSON has all. NO_COLOR=1 disables colour.\n"
                    "HEAPTAP_ASCII=1, or a locale that is not UTF-8, keeps text ASCII, except\n"
                    "for names.\n");
}

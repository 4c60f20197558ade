/* man_page.c: man pages from the tables.
 *
 * Each command has a page, heaptap-NAME.1, and heaptap.1 lists the commands. --help and the parser
 * use the same tables, so all three agree. Pages do not depend on the date or the machine: two
 * builds give the same bytes. */
#include "option/opts.h"

#include <ctype.h>
#include <string.h>

#include "base/version.h"
#include "util/arena.h"

/* Append LENGTH bytes of TEXT as roff text. Requests and escapes are made harmless, and a hyphen
 * stays the character that shells expect. */
static void
roff(struct strbuf *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool line_start = i == 0 || text[i - 1] == '\n';

        if (line_start && (text[i] == '.' || text[i] == '\''))
            strbuf_str(out, "\\&");
        switch (text[i]) {
        case '\\':
            strbuf_str(out, "\\e");
            break;
        case '-':
            strbuf_str(out, "\\-");
            break;
        case '^':
            strbuf_str(out, "\\(ha");
            break;
        case '~':
            strbuf_str(out, "\\(ti");
            break;
        case '`':
            strbuf_str(out, "\\(ga");
            break;
        default:
            strbuf_char(out, text[i]);
        }
    }
}

static void
roff_text(struct strbuf *out, const char *text)
{
    roff(out, text, strlen(text));
}

/* Append TEXT, paragraphs separated by blank lines. */
static void
roff_paragraphs(struct strbuf *out, const char *text)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);

        strbuf_str(out, ".PP\n");
        roff(out, text, length);
        strbuf_char(out, '\n');
        text += length;
        text += strspn(text, "\n");
    }
}

static void
man_head(struct strbuf *out, const char *page, const char *summary)
{
    strbuf_str(out, ".\\\" Made from the tables of the options; do not edit.\n.TH ");
    for (const char *c = page; *c != '\0'; c++)
        strbuf_char(out, (char)toupper((unsigned char)*c));
    strbuf_fmt(out, " 1 \"\" \"heaptap %s\" \"heaptap manual\"\n.SH NAME\n", HEAPTAP_VERSION);
    roff_text(out, page);
    strbuf_str(out, " \\- ");
    roff_text(out, summary);
    strbuf_str(out, "\n.SH SYNOPSIS\n");
}

static void
man_option(struct strbuf *out, const struct opt *o)
{
    strbuf_str(out, ".TP\n");
    if (o->letter != 0)
        strbuf_fmt(out, "\\fB\\-%c\\fR, ", o->letter);
    strbuf_str(out, "\\fB\\-\\-");
    roff_text(out, o->name);
    strbuf_str(out, "\\fR");
    if (o->kind != OPT_FLAG) {
        strbuf_str(out, opts_may_have_value(o) ? "[=\\fI" : "=\\fI");
        roff_text(out, o->argument);
        strbuf_str(out, opts_may_have_value(o) ? "\\fR]" : "\\fR");
    }
    strbuf_char(out, '\n');

    struct strbuf text = {0};

    strbuf_str(&text, o->help);
    help_choices(o, &text);
    roff_text(out, strbuf_text(&text));
    strbuf_char(out, '\n');
    strbuf_release(&text);
}

/* Append EXAMPLES, lines of "command\texplanation". */
static void
man_examples(struct strbuf *out, const char *examples)
{
    strbuf_str(out, ".SH EXAMPLES\n");
    while (*examples != '\0') {
        size_t length = strcspn(examples, "\n");
        const char *tab = memchr(examples, '\t', length);
        size_t command = tab ? (size_t)(tab - examples) : length;

        strbuf_str(out, ".TP\n\\fB");
        roff(out, examples, command);
        strbuf_str(out, "\\fR\n");
        if (tab) {
            roff(out, tab + 1, length - command - 1);
            strbuf_char(out, '\n');
        }
        examples += length + (examples[length] == '\n');
    }
}

static void
man_exit_codes(struct strbuf *out)
{
    strbuf_str(out, ".SH EXIT STATUS\n");
    for (const struct help_exit_code *e = help_exit_codes; e->meaning != NULL; e++) {
        strbuf_fmt(out, ".TP\n%d\n", e->code);
        roff_text(out, e->meaning);
        strbuf_char(out, '\n');
    }
}

/* Append the names of all pages except EXCEPT's, separated by commas. */
static void
man_see_also(struct strbuf *out, const struct command_group *groups, const struct command *except)
{
    const char *separator = "";

    strbuf_str(out, ".SH SEE ALSO\n");
    if (except != NULL) {
        strbuf_str(out, "\\fBheaptap\\fR(1)");
        separator = ",\n";
    }
    for (const struct command_group *g = groups; g->title != NULL; g++)
        for (const struct command *const *c = g->commands; *c != NULL; c++)
            if (*c != except) {
                strbuf_fmt(out, "%s\\fBheaptap\\-%s\\fR(1)", separator, (*c)->name);
                separator = ",\n";
            }
    strbuf_char(out, '\n');
}

void
man_page_command(const struct command_group *groups, const struct command *c,
                     struct strbuf *out)
{
    struct arena arena = {0};

    man_head(out, arena_printf(&arena, "heaptap-%s", c->name), c->summary);
    arena_release(&arena);
    strbuf_fmt(out, "\\fBheaptap %s\\fR [\\fIoptions\\fR]", c->name);
    if (c->arguments != NULL && c->arguments[0] != '\0') {
        strbuf_str(out, " \\fI");
        roff_text(out, c->arguments);
        strbuf_str(out, "\\fR");
    }
    strbuf_str(out, "\n.SH DESCRIPTION\n");
    roff_paragraphs(out, c->description ? c->description : c->summary);
    if (c->alias)
        strbuf_fmt(out, ".PP\n\\fBheaptap %s\\fR is the same command.\n", c->alias);
    strbuf_str(out, ".SH OPTIONS\n");
    for (const struct opt *o = c->options; o && o->kind != OPT_END; o++)
        man_option(out, o);
    strbuf_str(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nShow a short form of this text.\n");
    man_exit_codes(out);
    if (c->examples)
        man_examples(out, c->examples);
    man_see_also(out, groups, c);
}

void
man_page_overview(const struct command_group *groups, struct strbuf *out)
{
    man_head(out, "heaptap", HELP_SUMMARY);
    strbuf_str(
        out, "\\fBheaptap\\fR \\fIcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]\n"
             ".br\n"
             "\\fBheaptap\\fR \\fBhelp\\fR [\\fIcommand\\fR]\n"
             ".br\n"
             "\\fBheaptap\\fR \\fB\\-\\-version\\fR\n"
             ".SH DESCRIPTION\n"
             "\\fBheaptap run\\fR records every allocation of a program and all its children, with "
             "the call stacks, in a profile; the other commands show it.\n"
             "A profile can be read while the program still runs, and it is complete however the "
             "program ends.\n");
    for (const struct command_group *g = groups; g->title != NULL; g++) {
        strbuf_fmt(out, ".SS %s\n", g->title);
        for (const struct command *const *c = g->commands; *c != NULL; c++) {
            strbuf_fmt(out, ".TP\n\\fBheaptap\\-%s\\fR(1)\n", (*c)->name);
            roff_text(out, (*c)->summary);
            strbuf_str(out, ".\n");
        }
    }
    man_exit_codes(out);
    strbuf_str(
        out,
        ".SH ENVIRONMENT\n"
        ".TP\n\\fBNO_COLOR\\fR\nNo colours, when set and not empty.\n"
        ".TP\n\\fBTERM\\fR\nNo colours and no progress, when \\fIdumb\\fR.\n"
        ".TP\n\\fBBROWSER\\fR\nCommands that open a page (\\fBheaptap html \\-\\-open\\fR), "
        "separated by colons. The first one that exists is used, else \\fBxdg\\-open\\fR. "
        "\\fI%s\\fR in a command is replaced by the file.\n"
        ".TP\n\\fBDEBUGINFOD_URLS\\fR\nWhere debug information that is not installed is looked "
        "for; empty or not set: nowhere. Each answer is waited for as long as "
        "\\fBDEBUGINFOD_TIMEOUT\\fR says, in seconds.\n"
        ".TP\n\\fBXDG_CACHE_HOME\\fR\nSymbols are cached in its directory \\fIheaptap\\fR; "
        "the default is \\fI\\(ti/.cache\\fR.\n");
    man_see_also(out, groups, NULL);
}

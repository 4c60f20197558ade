/* help.h: the tables of opts.h as text for people. The functions write to a buffer. */
#ifndef OPTION_HELP_H
#define OPTION_HELP_H

#include "option/opts.h"
#include "util/strbuf.h"

#define HELP_SUMMARY "an exact heap profiler for Linux"
#define HELP_ISSUES "CONTRIBUTING.md says how to report a problem."

enum { HELP_WIDTH_MAX = 100 }; // Longer lines are hard to read, even if the terminal has room.

/* Append the output of `heaptap` without arguments: the commands by group. Lines have at most WIDTH
 * columns. */
void help_overview(const struct command_group *groups, size_t width, struct strbuf *out);

/* Append the output of `heaptap NAME --help`. */
void help_command(const struct command *c, size_t width, struct strbuf *out);

/* Append "heaptap NAME [options] ARGUMENTS". */
void help_synopsis(const struct command *c, struct strbuf *out);

/* Append the form of an option in help: "-n, --limit N". */
void help_option_label(const struct opt *o, struct strbuf *out);

/* Append " One of: a, b, c." for an option with choices, otherwise nothing. */
void help_choices(const struct opt *o, struct strbuf *out);

/* Append TEXT wrapped at WIDTH columns, with a final newline. The first line begins at COLUMN, and
 * the others are indented by INDENT. Newlines in TEXT are kept, and long words are not broken. */
void help_wrap(struct strbuf *out, const char *text, size_t column, size_t indent, size_t width);

/* Exit codes that all commands share; the last entry has a NULL meaning. */
struct help_exit_code {
    int code;
    const char *meaning;
};
extern const struct help_exit_code help_exit_codes[];

#endif

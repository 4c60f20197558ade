/* help.h: the tables of opts.h as text for people. Writes into a buffer; prints nothing itself. */
#ifndef OPTION_HELP_H
#define OPTION_HELP_H

#include "option/opts.h"
#include "util/strbuf.h"

#define HELP_SUMMARY "an exact heap profiler for Linux"
#define HELP_ISSUES "CONTRIBUTING.md says how to report a problem."

enum { HELP_WIDTH_MAX = 100 }; // Longer lines are hard to read, however wide the terminal is.

/* What `heaptap` alone shows: the commands by group. Lines have at most WIDTH columns. */
void help_overview(const struct command_group *groups, size_t width, struct strbuf *out);

/* What `heaptap NAME --help` shows. */
void help_command(const struct command *c, size_t width, struct strbuf *out);

/* "heaptap NAME [options] ARGUMENTS". */
void help_synopsis(const struct command *c, struct strbuf *out);

/* How an option is written: "-n, --limit N". */
void help_option_label(const struct opt *o, struct strbuf *out);

/* " One of: a, b, c." for a choice, else nothing. */
void help_choices(const struct opt *o, struct strbuf *out);

/* TEXT in lines of at most WIDTH columns, each after the first indented by INDENT; the first begins
 * at COLUMN. A newline in TEXT is kept; a word longer than a line is not broken. Ends with a
 * newline. */
void help_wrap(struct strbuf *out, const char *text, size_t column, size_t indent, size_t width);

/* The exit codes that all commands share, as pairs; ends with a NULL meaning. */
struct help_exit_code {
    int code;
    const char *meaning;
};
extern const struct help_exit_code help_exit_codes[];

#endif

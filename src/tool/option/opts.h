/* opts.h: commands and options as tables. --help, the man pages, the shell completion and the
 * parser read the same tables, so they always agree.
 *
 * To add a command, write cmd_NAME.c with a `const struct command command_NAME`, and add it to the
 * list in main.c. docs/hacking.md has the steps.
 *
 * Each command has a struct of options. A constant object of this struct has the defaults, and rows
 * point to its fields. For each run of the command, the parser stores the given values in a copy,
 * so that runs in one process are independent. Rows have addresses instead of offsets, because the
 * compiler then checks that the field exists, and the name of the struct is not repeated. */
#ifndef OPTION_OPTS_H
#define OPTION_OPTS_H

#include "base/base.h"
#include "util/err.h"
#include "util/strbuf.h"
#include "view/messages.h"

enum opt_kind {
    OPT_END = 0,   // End of a table.
    OPT_FLAG,      // bool *
    OPT_STRING,    // const char **; not empty
    OPT_SIZE,      // uint64_t *; accepts 10, 64K, 1.5M, 2G, but not 0
    OPT_COUNT,     // uint64_t *; a plain number from 1 on
    OPT_COUNT_0,   // uint64_t *; a plain number from 0 on
    OPT_COUNT_OF,  // uint64_t *; OPT_ALONE for --name, N for --name=N
    OPT_CHOICE,    // int *; index into the NULL-terminated choices
    // struct opt_choice *; like OPT_CHOICE, and a choice that ends in "=" is followed by more text
    OPT_CHOICE_OF,
    // struct opt_list *; each occurrence of the option appends a value, which is not empty
    OPT_LIST,
    OPT_FLAG_OF,   // int *; 1 for --name, the choice's index plus 1 for --name=CHOICE
};

#define OPT_ALONE UINT64_MAX

struct opt_choice {
    int choice;     // Index into the choices.
    const char *of; // Text after the "=" of the choice; NULL for a choice without "=".
};

/* Values in the order given. */
struct opt_list {
    const char **items;
    size_t count;
};

struct opt {
    enum opt_kind kind;
    char letter;             // 0 = none.
    const char *name;        // Without the dashes.
    // Address of the value in the command's defaults; enum opt_kind determines its type.
    const void *value;
    // Name of the option's value, in capitals, for help; NULL for plain flags.
    const char *argument;
    const char *help;        // One or two sentences; the first is the short help.
    const char *const *choices;
};

/* Return true if O is a flag, so that the word after it is not its value. */
bool opts_is_flag(const struct opt *o);

/* Return true if O is a flag with an optional value after an equals sign. */
bool opts_may_have_value(const struct opt *o);

/* Return true if O has choices. */
bool opts_has_choices(const struct opt *o);

/* Return the text that help and messages show after CHOICE: "KEY" if it needs a suffix, otherwise
 * "". */
const char *opts_after_choice(const char *choice);

struct command {
    const char *name;
    const char *alias;       // NULL = none.
    const char *arguments;   // For the usage line: "[PROFILE|PID|DIRECTORY]".
    const char *summary;     // One line without a full stop.
    const char *description; // Paragraphs separated by blank lines, for help and the man page.
    const char *examples; // Lines "command\texplanation", for help and the man page; NULL = none.
    const struct opt *options;
    // Return the Ith value that completion offers for an option without choices, the one called
    // NAME; NULL if there is none, or no Ith one. NULL = for no option. If a value has the form
    // "A=B", a NAME with "=" at its end asks for the texts behind that "=".
    const char *(*offered)(const char *name, size_t i);
    const void *defaults; // The command's struct of options; NULL without options.
    size_t defaults_bytes;
    bool stop_at_first;      // Options end at the first word that is not an option (for run).
    bool stop_at_unknown;    // Options end at the first unknown option (for cc).
    int min_arguments, max_arguments; // max_arguments -1 = no limit.
    // Run the command and return the exit code; errors have been printed (messages.h). OPTIONS is a
    // copy of the defaults with the given values. ARGUMENTS are the remaining words.
    int (*run)(const void *options, int count, char **arguments);
};

/* A heading of the overview and the commands under it, which end with NULL. An array of groups ends
 * with a NULL title. main.c has the only array; other code gets it as a parameter. */
struct command_group {
    const char *title;
    const struct command *const *commands;
};

/* Return the command called NAME, or NULL. */
const struct command *command_find(const struct command_group *groups, const char *name);

enum { OPTS_HELP = 1 };

/* Parse the COUNT ARGUMENTS of C. Store the options in VALUES, a copy of C's defaults. Move the
 * other words to the front of ARGUMENTS, and set *RET_LEFT to their number. "--" ends the options
 * and is removed. Strings are borrowed from ARGUMENTS. The later of two equal options is used.
 * Returns 0; OPTS_HELP for --help or -h, unless the table has these; or HEAPTAP_USAGE with ERR
 * set. */
int opts_parse(const struct command *c, void *values, int count, char **arguments, int *ret_left,
               struct err *err);

/* Free the lists of C's options in VALUES. */
void opts_release(const struct command *c, void *values);

/* Parse TEXT as a size: a number with an optional fraction and an optional K, M, G or T (powers of
 * 1024), with or without "iB". Return false, with *RET unchanged, for other texts and for sizes of
 * 2^64 or more. */
bool opts_parse_size(const char *text, uint64_t *ret);

/* Exit codes of commands. */
enum { EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_BAD_INPUT = 3, EXIT_BUG = 4 };

/* Exit code of `heaptap run --fail-on`. Programs use small numbers, shells numbers from 125 on. */
enum { EXIT_OVER_LIMIT = 99 };

/* Return the exit code for an enum heaptap_errc. */
int exit_code(int errc);

/* --- completion.c: completion scripts for shells from the tables of opts.h. */

/* Append a completion script for bash or zsh to OUT. */
void completion_bash(const struct command_group *groups, struct strbuf *out);
void completion_zsh(const struct command_group *groups, struct strbuf *out);

/* --- help.c: the tables of opts.h as text for people. The functions write to a buffer. */

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

/* --- man_page.c: the tables of opts.h as man pages. */

/* Append the man page of the command C, or the page of heaptap, in man(7) macros. */
void man_page_command(const struct command_group *groups, const struct command *c,
                          struct strbuf *out);
void man_page_overview(const struct command_group *groups, struct strbuf *out);

/* --- suggest.c: "did you mean …?" for a mistyped word. */

/* Best of the candidates so far. Initialise as {.word = w}. */
struct suggestion {
    const char *word;    // The mistyped word.
    const char *nearest; // NULL = none is near. Borrowed from the caller of suggest_offer.
    size_t distance;     // Number of edits between both.
};

/* Store CANDIDATE if it is near enough to the word and nearer than earlier candidates. */
void suggest_offer(struct suggestion *s, const char *candidate);

#endif

/* opts.h: commands and options as tables. --help, the man pages, the shell completion and the
 * parser read the same tables, so they cannot drift.
 *
 * Adding a command: write cmd_NAME.c with one `const struct command command_NAME` and add it to the
 * list in main.c. Nothing else; docs/hacking.md has the steps.
 *
 * Each command has a struct of options. A constant one holds the defaults, and rows point into it.
 * Each run of the command gets a copy, in which the parser stores the given values. So runs in one
 * process are independent, and a row is a plain address, which the compiler checks; offsets with
 * the struct's name in each row would add nothing. */
#ifndef OPTION_OPTS_H
#define OPTION_OPTS_H

#include "base/base.h"
#include "util/err.h"
#include "view/messages.h"

enum opt_kind {
    OPT_END = 0,   // The last entry of a table.
    OPT_FLAG,      // bool *
    OPT_STRING,    // const char **; not empty
    OPT_SIZE,      // uint64_t *; accepts 10, 64K, 1.5M, 2G, but not 0
    OPT_COUNT,     // uint64_t *; a plain number from 1 on
    OPT_COUNT_0,   // uint64_t *; a plain number from 0 on
    OPT_COUNT_OF,  // uint64_t *; OPT_ALONE if given alone, and --name=N is N
    OPT_CHOICE,    // int *; index into the NULL-terminated choices
    OPT_CHOICE_OF, // struct opt_choice *; the same, and a choice that ends in "=" takes more text
    OPT_LIST,      // struct opt_list *; each time it is given adds a value, which is not empty
    OPT_FLAG_OF,   // int *; 1 if given, and --name=CHOICE is the choice's index plus 1
};

#define OPT_ALONE UINT64_MAX

struct opt_choice {
    int choice;     // Index into the choices.
    const char *of; // What follows the "=" of the choice; NULL for one without.
};

/* Values in the given order. */
struct opt_list {
    const char **items;
    size_t count;
};

struct opt {
    enum opt_kind kind;
    char letter;             // 0 = none.
    const char *name;        // Without the dashes.
    const void *value;       // In the command's defaults; enum opt_kind determines its type.
    const char *argument;    // Name of the option's value, in capitals, for help; NULL for plain
                             // flags.
    const char *help;        // One or two sentences; the first is the short help.
    const char *const *choices;
};

/* Return true if O is a flag, so that a word after it is not its value. */
bool opts_is_flag(const struct opt *o);

/* Return true if O is a flag with an optional value after an equals sign. */
bool opts_may_have_value(const struct opt *o);

/* Return true if O has choices. */
bool opts_has_choices(const struct opt *o);

/* Return the text after CHOICE in help and messages: "KEY" if it needs a suffix, else "". */
const char *opts_after_choice(const char *choice);

struct command {
    const char *name;
    const char *alias;       // An alias; NULL = none.
    const char *arguments;   // For usage: "[PROFILE|PID|DIRECTORY]".
    const char *summary;     // One line, no full stop.
    const char *description; // Paragraphs separated by blank lines, for help and the man page.
    const char *examples; // Lines "command\texplanation", for help and the man page; NULL = none.
    const struct opt *options;
    const void *defaults; // The command's struct of options; NULL without options.
    size_t defaults_bytes;
    bool stop_at_first;      // Options end at the first argument that is not one (run),
    bool stop_at_unknown;    // and at the first unknown option (cc).
    int min_arguments, max_arguments; // max -1 = any.
    // Returns the exit code after printing any error (messages.h). OPTIONS is a copy of the
    // defaults with the given values, ARGUMENTS the remaining words.
    int (*run)(const void *options, int count, char **arguments);
};

/* A heading of the overview and the commands under it, ended by NULL. An array of groups ends with
 * a NULL title. main.c has the only one; everything else takes it as a parameter. */
struct command_group {
    const char *title;
    const struct command *const *commands;
};

/* Return the command NAME, or NULL. */
const struct command *command_find(const struct command_group *groups, const char *name);

enum { OPTS_HELP = 1 };

/* Store the options of C among the COUNT ARGUMENTS in VALUES, a copy of C's defaults, and move the
 * other words to the front of ARGUMENTS, *RET_LEFT of them; "--" ends the options and is dropped.
 * Strings are borrowed from ARGUMENTS. The later of two equal options wins. Returns 0; OPTS_HELP at
 * --help or -h, unless the table has them; or HEAPTAP_USAGE with ERR set. */
int opts_parse(const struct command *c, void *values, int count, char **arguments, int *ret_left,
               struct err *err);

/* Free the lists of C's options in VALUES. */
void opts_release(const struct command *c, void *values);

/* Parse TEXT as a size: a number with an optional fraction and an optional K, M, G or T (powers of
 * 1024), with or without "iB". Return false, with *RET unchanged, for anything else and for sizes
 * of 2^64 or more. */
bool opts_parse_size(const char *text, uint64_t *ret);

/* Exit codes of commands. */
enum { EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_BAD_INPUT = 3, EXIT_BUG = 4 };

/* Exit code of `heaptap run --fail-on`. Programs use small numbers, shells those from 125 on. */
enum { EXIT_OVER_LIMIT = 99 };

/* Return the exit code for an enum heaptap_errc. */
int exit_code(int errc);

#endif

/* shared_opts.h: options that several commands share. */
#ifndef OPTION_SHARED_OPTS_H
#define OPTION_SHARED_OPTS_H

#include "analyse/limit_check.h"
#include "analyse/stacks.h"
#include "analyse/tags.h"
#include "option/opts.h"
#include "util/err.h"

struct module_cache;

/* --- limit_opts.c: parse limits on the command line.
 *
 *     peak=5%,leaks=0,allocations=10%,inuse=1M        limits by name
 *     leaks                                           same as leaks=0
 *     5%                                              limit of the default quantities */

struct limit_rules {
    const char *option;  // Name of the option, for messages.
    uint32_t names;      // Permitted names, as bits 1 << enum limit_of.
    uint32_t unnamed;    // Quantities for a limit without a name; 0 = a name is required.
    bool percents;       // Percentages are allowed.
};

/* Parse TEXT into RET, replacing its contents. Returns 0, or HEAPTAP_USAGE with ERR set, also if a
 * limit is given twice: the user may have meant either. */
int limits_parse(const char *text, const struct limit_rules *rules, struct limits *ret,
                 struct err *err);

/* Parse TEXT, "5%" or "0.25%", into *RET, in 1 / PERCENT_SCALE percent. Return false for other
 * texts. */
bool limits_parse_percent(const char *text, uint64_t *ret);

/* Return the Ith name that RULES permits; NULL after the last one. */
const char *limits_offered(const struct limit_rules *rules, size_t i);

/* --- metric_opts.c: choose the metric, in the same way for all commands that have one. */

/* Values of the options. Zero before parsing, except metric, which is -1. */
struct metric_choice {
    int metric; // enum metric; -1 = not given.
    bool inuse, peak, alloc, temporary, count;
};

/* Choices of OPT_CHOICE, in the order of enum metric. */
extern const char *const metric_choice_names[];

/* Rows for a command's table; CHOICE is the struct metric_choice in its defaults. */
// clang-format off
#define METRIC_OPTIONS(choice, help)                                                              \
    {OPT_CHOICE, 0, "metric", &(choice).metric, "METRIC",                                         \
     help " The next five options are short for it.", metric_choice_names},                       \
    {OPT_FLAG, 0, "inuse", &(choice).inuse, NULL, "Live bytes.", NULL},                           \
    {OPT_FLAG, 0, "peak", &(choice).peak, NULL, "Bytes live at the peak.", NULL},                 \
    {OPT_FLAG, 0, "alloc", &(choice).alloc, NULL, "Bytes ever allocated.", NULL},                 \
    {OPT_FLAG, 0, "temporary", &(choice).temporary, NULL,                                         \
     "Short-lived blocks: freed by their thread before it had allocated 16 more.", NULL},         \
    {OPT_FLAG, 0, "count", &(choice).count, NULL, "Allocation calls.", NULL}
// clang-format on

/* Return true if the user chose a metric. */
bool metric_was_chosen(const struct metric_choice *choice);

/* Return the chosen metric; live bytes by default. */
enum metric metric_chosen(const struct metric_choice *choice);

/* Like metric_chosen, but allocated bytes by default, unless AT, the value of --at or NULL, is the
 * peak: then only live blocks are known. */
enum metric metric_of_calls(const struct metric_choice *choice, const char *at);

/* --- sample_opts.c: --sample and --sample-count, for `run` and `record`. */

/* Check that the recorder accepts BYTES of --sample and COUNT of --sample-count (0 = not given).
 * Returns 0, or HEAPTAP_USAGE with ERR set. */
int sample_opts_check(uint64_t bytes, uint64_t count, struct err *err);

/* Set *RET_PERIOD to N of TEXT, "1/N", the value of --callers; 0 for "1/1", and unchanged if TEXT
 * is NULL. Returns 0, or HEAPTAP_USAGE with ERR set. */
int sample_opts_callers(const char *text, uint64_t *ret_period, struct err *err);

/* Set *RET_LIMIT to the thousandths of a percent in TEXT, "5%", the value of --max-overhead. Leave
 * it unchanged if TEXT is NULL. Returns 0, or HEAPTAP_USAGE with ERR set. */
int sample_opts_overhead(const char *text, uint64_t *ret_limit, struct err *err);

/* Options for the places to search for names, for every command that shows or stores them. */

/* Values of the options. Zero before parsing. */
struct symbol_choice {
    const char *sysroot;
    struct opt_list debug_dirs;
    // This is not an option: commands that open many profiles set it (symbol/module_cache.h).
    struct module_cache *module_cache;
    bool silent; // Not an option either: print nothing, because a screen is shown.
};

/* Rows for a command's table; CHOICE is the struct symbol_choice in its defaults. */
// clang-format off
#define SYMBOL_OPTIONS(choice)                                                                    \
    {OPT_LIST, 0, "debug-dir", &(choice).debug_dirs, "DIR",                                       \
     "Also look for debug files in DIR: by build id, below DIR/.build-id or in DIR itself. May "   \
     "be repeated.", NULL},                                                        \
    {OPT_STRING, 0, "sysroot", &(choice).sysroot, "DIR",                                          \
     "Look for the programs, libraries and sources of the profile below DIR first: the root of a " \
     "container, or a copy of another machine's files.", NULL}
// clang-format on

/* --- view_opts.c: options shared by commands that show profiles. Each such command has a struct
 * view_options in its struct of options, and these rows in its table. Values are passed as
 * parameters, so that two views in one process may differ. */

/* Values of the options. Zero = not given. */
struct view_options {
    const char *filter, *fold, *only, *at, *between;
    struct tag_filter tags;
    struct symbol_choice symbols;
    bool no_fold, fold_recursion, keep_recursion, wide;
    bool native, language_only, keep_languages;
    bool blocks;    // The view finds blocks in memory, each by its site. No option.
    int json;       // Index in view_json_layouts plus 1; 0 = text.
    uint64_t limit; // 0 = the view's default.
    uint64_t depth; // 0 = the view's default.
};

extern const char *const view_json_layouts[];

/* Return the JSON version that OPTIONS request; see util/json_out.h. */
uint32_t view_json_version(const struct view_options *options);

/* Rows for a command's table; OF is the struct view_options in its defaults. */
// clang-format off
#define VIEW_FILTER_OPTION(of)                                                                    \
    {OPT_STRING, 0, "filter", &(of).filter, "REGEX",                                              \
     "Keep only stacks with a function, file or module that matches REGEX (extended, without " \
     "back-references, of at most 4096 parts with its repetitions written out). A warning says " \
     "when none does.", NULL}
#define VIEW_TAG_OPTIONS(of)                                                                      \
    {OPT_STRING, 0, "heap", &(of).tags.heap, "NAME",                                              \
     "Keep only blocks of the heap NAME, declared through heaptap.h; * and ? work as in the "     \
     "shell, and malloc is a name as well.", NULL},                                               \
    {OPT_STRING, 0, "label", &(of).tags.label, "KEY[=VALUE]",                                     \
     "Keep only blocks with the program's label KEY, or only those where its value is VALUE; * "  \
     "and ? work as in the shell.", NULL}
#define VIEW_NATIVE_OPTION(of)                                                                    \
    {OPT_FLAG, 0, "native", &(of).native, NULL,                                                   \
     "Also show the interpreter's functions where functions of an interpreted language replace "  \
     "them.", NULL},                                                                              \
    {OPT_FLAG, 0, "language-only", &(of).language_only, NULL,                                     \
     "Show only functions of the program's interpreted language, and charge the allocations of "  \
     "C code to the calling function of the language. Text and pictures do so by default if the " \
     "program is an interpreter.", NULL},                                                         \
    {OPT_FLAG, 0, "no-language-only", &(of).keep_languages, NULL,                                 \
     "Show the functions of extensions and of the program between those of the language, also "   \
     "if the program is an interpreter.", NULL}
#define VIEW_FOLD_OPTIONS(of)                                                                     \
    VIEW_FILTER_OPTION(of),                                                                       \
    {OPT_STRING, 0, "fold", &(of).fold, "REGEX",                                                  \
     "Charge innermost functions that match REGEX, with or without return type and parameters, "  \
     "to their callers, like operator new, zmalloc, all of std:: and other common wrappers.",     \
     NULL},                                                                                       \
    {OPT_FLAG, 0, "no-fold", &(of).no_fold, NULL,                                                 \
     "Do not charge the common wrappers to their callers.", NULL},                                \
    {OPT_FLAG, 0, "fold-recursion", &(of).fold_recursion, NULL,                                   \
     "Show repeated calls once, so that recursion does not make a stack of each depth. Pictures " \
     "and the first screen of report do so by default.", NULL},                                   \
    {OPT_FLAG, 0, "no-fold-recursion", &(of).keep_recursion, NULL,                                \
     "Show recursion as recorded, also in pictures and on the first screen.", NULL},              \
    VIEW_NATIVE_OPTION(of),                                                                       \
    VIEW_TAG_OPTIONS(of)
#define VIEW_TIME_OPTIONS(of)                                                                     \
    {OPT_STRING, 0, "at", &(of).at, "WHEN",                                                       \
     "Show the profile as it was at WHEN: a snapshot's name (the latest of that name; NAME#2 is " \
     "the second), a time such as 90s or 1h30m after the start or -5m before the end, start, "    \
     "end, or peak, where only live blocks are known. A time means the last snapshot before it. " \
     "In a session, times count from the start of the first process.",                           \
     NULL},                                                                                       \
    {OPT_STRING, 0, "between", &(of).between, "A..B",                                             \
     "Show the events between two such moments; live bytes are then their growth. The name of a " \
     "program's phase means the time from its beginning to the beginning of the next.", NULL}
#define VIEW_STACK_OPTIONS(of)                                                                    \
    VIEW_FOLD_OPTIONS(of),                                                                        \
    VIEW_TIME_OPTIONS(of)
#define VIEW_OUTPUT_OPTIONS(of)                                                                   \
    {OPT_FLAG, 0, "wide", &(of).wide, NULL,                                                       \
     "Do not cut lines to the terminal's width, or to COLUMNS. In a pipe or a file they are cut " \
     "only if COLUMNS is set.", NULL},                                                            \
    {OPT_FLAG_OF, 0, "json", &(of).json, "LAYOUT",                                                \
     "Print JSON (docs/json.md) instead of text. The layout tables, the default, lists each "      \
     "frame once; nested, the layout of version 1, repeats frames in every stack and may be very " \
     "large.", view_json_layouts}
#define VIEW_SHOW_OPTIONS(of)                                                                     \
    SYMBOL_OPTIONS((of).symbols),                                                                 \
    {OPT_STRING, 0, "only", &(of).only, "PROGRAM|PID",                                            \
     "In a session, select only processes of PROGRAM, or the process PID. Several, and * and ? "  \
     "in names, work as in heaptap run.", NULL},                                                  \
    VIEW_OUTPUT_OPTIONS(of)
// clang-format on

#endif

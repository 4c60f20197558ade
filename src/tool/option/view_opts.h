/* view_opts.h: options shared by commands that show profiles. Each such command has a struct
 * view_options in its struct of options, and these rows in its table. Values are passed as
 * parameters, so that two views in one process may differ. */
#ifndef OPTION_VIEW_OPTS_H
#define OPTION_VIEW_OPTS_H

#include "analyse/tags.h"
#include "option/opts.h"
#include "option/symbol_opts.h"

/* Values of the options. Zero = not given. */
struct view_options {
    const char *filter, *fold, *only, *at, *between;
    struct tag_filter tags;
    struct symbol_choice symbols;
    bool no_fold, fold_recursion, keep_recursion, native, wide;
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
     "them.", NULL}
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
#define VIEW_STACK_OPTIONS(of)                                                                    \
    VIEW_FOLD_OPTIONS(of),                                                                        \
    {OPT_STRING, 0, "at", &(of).at, "WHEN",                                                       \
     "Show the profile as it was at WHEN: a snapshot's name (the latest of that name; NAME#2 is " \
     "the second), a time such as 90s or 1h30m after the start or -5m before the end, start, "    \
     "end, or peak, where only live blocks are known. A time means the last snapshot before it.", \
     NULL},                                                                                       \
    {OPT_STRING, 0, "between", &(of).between, "A..B",                                             \
     "Show the events between two such moments; live bytes are then their growth. The name of a " \
     "program's phase means the time from its beginning to the beginning of the next.", NULL}
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

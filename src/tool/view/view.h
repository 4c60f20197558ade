/* view.h: what all commands that show a profile share: opening what the user named, and common
 * options. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "option/opts.h"
#include "view/view_text.h"

/* The values of the common options; one command runs in a process. */
struct view_options {
    const char *filter, *fold, *only, *at, *between;
    struct tag_filter tags;
    bool no_fold, wide, json;
    uint64_t limit; // 0 = the view's default.
    uint64_t depth;
};
extern struct view_options view_options;

/* Rows for a command's table. */
// clang-format off
#define VIEW_FOLD_OPTIONS                                                                         \
    {OPT_STRING, 0, "filter", &view_options.filter, "REGEX",                                      \
     "Keep only stacks in which a function, file or module matches REGEX (extended).", NULL},     \
    {OPT_STRING, 0, "fold", &view_options.fold, "REGEX",                                          \
     "Charge innermost functions that match REGEX to their callers, as is done with "             \
     "operator new, xmalloc and other common wrappers.", NULL},                                   \
    {OPT_FLAG, 0, "no-fold", &view_options.no_fold, NULL,                                         \
     "Do not charge the common wrappers to their callers.", NULL},                                \
    {OPT_STRING, 0, "heap", &view_options.tags.heap, "NAME",                                      \
     "Keep only blocks of the heap NAME, which the program has made with heaptap.h; * and ? work " \
     "as in the shell, and malloc is a name, too.", NULL},                                        \
    {OPT_STRING, 0, "label", &view_options.tags.label, "KEY[=VALUE]",                             \
     "Keep only blocks that the program has given the label KEY, and if it says so with a value " \
     "like VALUE; * and ? work as in the shell.", NULL}
#define VIEW_STACK_OPTIONS                                                                        \
    VIEW_FOLD_OPTIONS,                                                                            \
    {OPT_STRING, 0, "at", &view_options.at, "WHEN",                                               \
     "Show what was known at WHEN: a snapshot's name (the latest of that name; NAME#2 is the "    \
     "second), a time such as 90s or 1h30m after the start or -5m before the end, start or end. " \
     "A time means the last snapshot before it.", NULL},                                          \
    {OPT_STRING, 0, "between", &view_options.between, "A..B",                                     \
     "Show what happened between two such moments; live bytes are then what they grew by. The "   \
     "name of a phase of the program means from its beginning to that of the next.", NULL}
#define VIEW_SHOW_OPTIONS                                                                         \
    {OPT_STRING, 0, "only", &view_options.only, "PROGRAM|PID",                                    \
     "Of a session, take only processes of PROGRAM, or the process PID. Several, and * and ? in " \
     "names, work as in heaptap run.", NULL},                                                     \
    {OPT_FLAG, 0, "wide", &view_options.wide, NULL,                                               \
     "Do not cut lines to the terminal's width.", NULL},                                          \
    {OPT_FLAG, 0, "json", &view_options.json, NULL,                                               \
     "Print JSON (docs/json.md) instead of text.", NULL}
// clang-format on

struct view_set {
    struct profile **v;
    size_t count;
    struct arena arena; // Of the list, and for what commands compute.
};

/* Open WHAT (NULL: the newest *.heaptap of the current directory): one profile, or those of a
 * session that the option --only picks, largest first. Profiles are not symbolised yet. Returns 0,
 * or the exit code after saying why. */
int view_open(const char *what, struct view_set *ret);
void view_close(struct view_set *set);

/* 0 if METRIC is known of P, which may be cut by --at or --between; else says so and returns
 * EXIT_USAGE. */
int view_check_metric(const struct profile *p, enum metric metric);

/* Symbolise P, with progress if stderr is a terminal, and say on stderr what was missing.
 * Returns as view_open does. */
int view_symbolise(struct profile *p);

/* The same, without saying what was missing. */
int view_symbolise_quietly(struct profile *p);

/* The common options for stacks. Text merges what differs in labels only. */
struct stacks_options view_stacks_options(bool fold);

/* Say so if no heap or label of P is what the options ask for. */
void view_warn_of_tags(const struct profile *p, struct arena *arena);

/* Build the stacks of a symbolised P under the common options, or under OPTIONS. As view_open. */
int view_stacks(const struct profile *p, bool fold, struct arena *arena, struct stacks *ret);
int view_stacks_with(const struct profile *p, const struct stacks_options *options,
                     struct arena *arena, struct stacks *ret);

/* A text view of P under the common options, writing to OUT; styled for stdout. */
struct text_view view_text(const struct profile *p, const struct stacks *stacks,
                           struct arena *arena, struct strbuf *out);

/* 0 if SET has one profile; otherwise say how to pick one and return EXIT_USAGE. */
int view_one(const struct view_set *set, const char *what);

/* A session with more than one process as one: totals over all, and a line per process, largest
 * peak first. */
void view_session_text(const struct view_set *set, struct strbuf *out, struct arena *arena);

/* The same, as the beginning of a document whose list "profiles" is left open; ended by
 * view_session_json_end. */
void view_session_json(const struct view_set *set, struct json *j, struct arena *arena);

/* Show each process of WHAT with SHOW, which writes to J with --json and to OUT without; above each
 * of several stands its command. SHOW returns 0, an exit code, or HEAPTAP_NOT_FOUND if the process
 * has nothing to show; if none has, so does this. VIEW_SINGLE: more than one process is a mistake.
 */
typedef int view_show_fn(struct profile *p, struct arena *arena, struct json *j,
                         struct strbuf *out);
enum view_of { VIEW_SESSION, VIEW_SINGLE };
int view_each(const char *what, enum view_of of, view_show_fn *show);

/* An empty output for view_print. What is much goes to stdout while it is made (strbuf_pause). */
struct strbuf view_output(void);

/* Write OUT to stdout and release it. Returns 0 or an exit code: a full disk shows. */
int view_print(struct strbuf *out);

#endif

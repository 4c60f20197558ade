/* metric_opts.h: choose the metric, in the same way for all commands that have one. */
#ifndef OPTION_METRIC_OPTS_H
#define OPTION_METRIC_OPTS_H

#include "analyse/stacks.h"
#include "option/opts.h"

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

#endif

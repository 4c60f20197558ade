/* budget_gate.h: judge profiles by a budget, and write the results, for `budget` and `run`. */
#ifndef COMMAND_BUDGET_GATE_H
#define COMMAND_BUDGET_GATE_H

#include "analyse/budget_judge.h"
#include "option/opts.h"
#include "option/shared_opts.h"
#include "util/strbuf.h"

/* The options of both commands. */
struct budget_options {
    const char *budget, *baseline;
    struct opt_list formats;
};

/* Rows for a command's table; OF is the struct budget_options in its defaults. */
// clang-format off
#define BUDGET_OPTIONS(of)                                                                        \
    {OPT_STRING, 0, "baseline", &(of).baseline, "FILE",                                           \
     "Profile or session of an earlier build. Limits with the word baseline refer to it.",      \
     NULL},                                                                                       \
    {OPT_LIST, 0, "format", &(of).formats, "KIND=FILE",                                           \
     "Also write the results to FILE, in the format KIND: json. May be repeated.", NULL}
// clang-format on

struct budget_gate {
    const struct budget_options *options;
    struct budget budget;
    struct budget_report report;
    struct arena arena; // Owns the budget and the results.
    struct budget_report earlier; // Results for the baseline.
};

/* Read the budget and the baseline that OPTIONS name. Returns 0, or the exit code after printing
 * the errors. The caller closes *RET in either case. */
int budget_gate_open(const struct budget_options *options, struct budget_gate *ret);
void budget_gate_close(struct budget_gate *g);

/* Judge P, and keep the results. Symbolises P by SYMBOLS, which may be NULL. */
void budget_gate_check(struct budget_gate *g, struct profile *p,
                       const struct symbol_choice *symbols);

/* Add a finding: some process or profile could not be judged, for REASON. */
void budget_gate_add_unknown(struct budget_gate *g, const char *reason);

/* Complete the results, and write the files of --format. Returns 0, or an exit code after printing
 * an error. */
int budget_gate_write(struct budget_gate *g);

#endif

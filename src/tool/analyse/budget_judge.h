/* budget_judge.h: rules on the amounts of profiles, and their results. Amounts are measured and
 * judged as limits are (limit_check.h). */
#ifndef ANALYSE_BUDGET_JUDGE_H
#define ANALYSE_BUDGET_JUDGE_H

#include "analyse/limit_check.h"

/* Key of the label whose values are the names of tests. */
#define BUDGET_TEST_LABEL "test"

/* The stacks that a rule is about. */
enum budget_scope {
    BUDGET_ALL,      // All stacks.
    BUDGET_FUNCTION, // Stacks with a function; with `self`, those whose innermost function it is.
    BUDGET_PATH,     // Stacks that consist of the functions of a path.
    BUDGET_MODULE,   // Stacks with code of a file; with `self`, those whose innermost code it is.
    BUDGET_LANGUAGE, // Stacks with a function of an interpreted language; `self` as above.
    BUDGET_HEAP,     // Blocks of a heap.
    BUDGET_LABEL,    // Blocks with a label.
    BUDGET_TYPE,     // Blocks of a type.
    BUDGET_SCOPES,
};

struct budget_rule {
    const char *text; // As written, without blanks at the ends.
    const char *what; // The amount in a normal form, "self alloc of function f"; also its key in
                      // baselines.
    const char *program; // Pattern of the programs that the rule is for; NULL = all.
    const char *test;    // Pattern of the tests; NULL = the rule is not by test.
    enum limit_of of;
    enum budget_scope scope;
    const char *name; // Pattern of the scope; unused for BUDGET_ALL.
    bool self;
    bool maybe;       // No finding if nothing matches the scope.
    bool is_exact;    // A smaller amount is a finding as well.
    bool of_baseline; // The limit is a growth from the baseline.
    bool has_percent;
    uint64_t percent; // In 1 / PERCENT_SCALE percent.
    uint64_t amount;
    uint32_t line, column;
};

/* Conditions that make no finding although numbers are missing, as bits. */
enum budget_allow { BUDGET_ALLOW_LOSSES = 1, BUDGET_ALLOW_CUT_STACKS = 2 };

struct budget {
    const char *path; // File with the rules.
    struct budget_rule *v;
    size_t count;
    uint32_t allows;
};

/* An amount in the runs of a baseline. */
struct budget_values {
    int64_t smallest, median, largest;
    int64_t most; // Upper bound of the largest; it is larger for estimates and peaks of threads.
    size_t runs;
};

/* A process to judge. */
struct budget_subject {
    const struct profile *p; // Symbolised, and typed if a rule is about types.
    const char *program;     // Name of the executable.
    const char *untrue;      // Reason why no number of P is reliable, as a predicate; or NULL.
    const char *gap;         // Reason why numbers of P are lower bounds, as a predicate; or NULL.
    // Return true if code of P defines a function that glob_match finds with PATTERN. NULL = it is
    // not known.
    bool (*defines)(void *arg, const struct profile *p, const char *pattern);
    // Store the values of WHAT in TEST (or NULL) of PROGRAM; return false if there are none. NULL =
    // there is no baseline.
    bool (*baseline)(void *arg, const char *program, const char *test, const char *what,
                     struct budget_values *ret);
    void *arg;
};

enum budget_outcome {
    BUDGET_WITHIN,
    BUDGET_OVER,
    BUDGET_UNDER,   // Less than an exact amount.
    BUDGET_ABSENT,  // Nothing matches the rule.
    BUDGET_UNKNOWN, // Numbers are missing; see `reason`.
    BUDGET_LEFT_OUT, // Nothing matches the rule, which allows this.
};

struct budget_frame {
    const char *function, *file, *module; // "" if unknown.
    uint32_t line;                        // 0 if unknown.
};

enum { BUDGET_FRAMES_MAX = 64 };

struct budget_result {
    const struct budget_rule *rule;
    const char *program;
    uint32_t pid;        // 0 if it has none.
    const char *profile; // Path of the profile; "" if the process left none.
    const char *test;    // NULL = the rule is not by test.
    enum budget_outcome outcome;
    bool is_measured;          // `limit` has the amount.
    struct limit_result limit; // `before` and `allowed` as for growth.
    bool has_values;           // The baseline has the amount.
    struct budget_values values;
    const char *reason; // For BUDGET_ABSENT and BUDGET_UNKNOWN: a sentence without a full stop.
    // The stack with the largest part of the amount, innermost frame first.
    struct budget_frame *frames;
    size_t frame_count;
};

struct budget_report {
    const struct budget *budget;
    struct budget_result *v;
    size_t count, capacity;
};

/* Judge each rule of B that is for S. Append the results, which are from KEEP and live without S,
 * to RET. Temporary data is from SCRATCH. */
void budget_judge(const struct budget *b, const struct budget_subject *s, struct arena *scratch,
                  struct arena *keep, struct budget_report *ret);

/* Append a result for each rule of B that no result in RET is about. Call after all processes. */
void budget_judge_rest(const struct budget *b, struct arena *keep, struct budget_report *ret);

/* Return true if R is no success: over or under its limit, without a match, or unknown. */
bool budget_is_finding(const struct budget_result *r);

/* Return the exit code of REPORT: 0, 1 if an amount is over or under its limit or absent, 3 if the
 * only findings are unknown amounts. */
int budget_exit(const struct budget_report *report);

/* Return true if RULE is for PROGRAM. */
bool budget_is_for(const struct budget_rule *rule, const char *program);

/* --- budget_measure.c: the amounts that rules are about. */

/* Amounts of a process that a rule needs. */
struct budget_measure {
    struct limit_totals totals;  // Sum of the stacks in the scope.
    struct limit_totals whole;   // Sum of all stacks in the same test.
    struct counters missing;     // Sum of the stacks that are too short to show whether they are.
    bool is_found;               // Something matches the scope's name.
    struct stacks stacks;        // Those in the scope.
    const struct stack *largest; // NULL = none.
};

struct budget_meter;

/* Return a meter for S, which must outlive it. From ARENA. */
struct budget_meter *budget_meter_new(const struct budget_subject *s, struct arena *arena);
void budget_meter_free(struct budget_meter *m);

/* Restrict M to blocks of TEST; NULL = none. */
void budget_meter_pick(struct budget_meter *m, const char *test);

/* Measure RULE. Returns 0, or HEAPTAP_USAGE with ERR set if P does not know the amount. */
int budget_meter_read(struct budget_meter *m, const struct budget_rule *rule,
                      struct budget_measure *ret, struct err *err);

/* Return true if PATTERN is the whole name of FUNCTION, with or without its parameters, template
 * arguments and return type. */
bool budget_function_matches(const char *pattern, const char *function, struct arena *arena);

#endif

/* budget_reports.h: the results of a budget for people and for CI services. */
#ifndef BUDGET_BUDGET_REPORTS_H
#define BUDGET_BUDGET_REPORTS_H

#include "analyse/budget_judge.h"
#include "util/strbuf.h"
#include "view/style.h"

/* Append REPORT to OUT. */
typedef void budget_format_fn(const struct budget_report *report, struct strbuf *out);

/* A format of `--format NAME=FILE`. */
struct budget_format {
    const char *name;
    budget_format_fn *write;
};

/* All formats; the last one has no name. */
extern const struct budget_format budget_formats[];

/* --- budget_text.c: text for people. */

/* Append REPORT, for STYLE. With FINDINGS_ONLY, rules within their limits are only counted. */
void budget_text(const struct budget_report *report, const struct style *style, bool findings_only,
                 struct strbuf *out);

/* Return a sentence about R: its amount, the limit and the cause. From ARENA. */
const char *budget_sentence(const struct budget_result *r, struct arena *arena);

/* Return the name of R: its process, test and rule. From ARENA. */
const char *budget_title(const struct budget_result *r, struct arena *arena);

/* Return the word for OUTCOME: "ok", "over", … */
const char *budget_word(enum budget_outcome outcome);

/* --- budget_json.c: one document "heaptap-budget". */
budget_format_fn budget_json;

#endif

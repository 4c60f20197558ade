/* fuzz_budget_file.c: parse any bytes as the rules of a budget. Each rule must have a limit that
 * can be computed, and a place in the file; its text alone must give the same rule again. */
/* covers: budget_file.c */
#include <stdlib.h>
#include <string.h>

#include "option/budget_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Abort unless the text of R gives R again. */
static void
check_rule(const struct budget_rule *r, struct arena *arena)
{
    struct strbuf errors = {0};
    struct budget again;

    if (budget_file_parse(r->text, strlen(r->text), "again", arena, &again, &errors) != 0 ||
        again.count != 1)
        abort();
    if (strcmp(again.v[0].what, r->what) != 0 || again.v[0].amount != r->amount ||
        again.v[0].percent != r->percent || again.v[0].of_baseline != r->of_baseline ||
        again.v[0].is_exact != r->is_exact || again.v[0].maybe != r->maybe)
        abort();
    if (limit_allowed(INT64_MAX, r->percent, r->amount) < 0)
        abort();
    strbuf_release(&errors);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf errors = {0};
    struct arena arena = {0};
    struct budget budget;
    int rc = budget_file_parse((const char *)data, size, "fuzz", &arena, &budget, &errors);

    if ((rc == 0) != (errors.length == 0) || (rc == 0 && budget.count == 0))
        abort();
    for (size_t i = 0; i < budget.count; i++) {
        if (budget.v[i].line == 0 || budget.v[i].column == 0 || budget.v[i].what == NULL)
            abort();
        check_rule(&budget.v[i], &arena);
    }
    strbuf_release(&errors);
    arena_release(&arena);
    return 0;
}

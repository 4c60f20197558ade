/* budget_formats.c: the formats of a budget's results. The option and its help read this table. */
#include "budget/budget_reports.h"

const struct budget_format budget_formats[] = {
    {"json", budget_json},
    {NULL, NULL},
};

/* metric_opts.c: --metric NAME and its five short forms. A short form overrides --metric. If
 * several are given, the first in the order of enum metric is used.
 */
#include "option/shared_opts.h"

#include <string.h>

const char *const metric_choice_names[] = {"inuse", "peak", "alloc", "temporary", "count", NULL};

bool
metric_was_chosen(const struct metric_choice *choice)
{
    return choice->metric >= 0 || choice->inuse || choice->peak || choice->alloc ||
           choice->temporary || choice->count;
}

enum metric
metric_chosen(const struct metric_choice *choice)
{
    const bool flags[] = {choice->inuse, choice->peak, choice->alloc, choice->temporary,
                          choice->count};

    for (size_t i = 0; i < countof(flags); i++)
        if (flags[i])
            return (enum metric)i;
    return choice->metric < 0 ? METRIC_INUSE : (enum metric)choice->metric;
}

enum metric
metric_of_calls(const struct metric_choice *choice, const char *at)
{
    if (metric_was_chosen(choice) || (at != NULL && strcmp(at, "peak") == 0))
        return metric_chosen(choice);
    return METRIC_ALLOC;
}

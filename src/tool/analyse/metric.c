/* metric.c: the quantities by which views rank stacks, and the default quantity of a profile. */
#include "analyse/stacks.h"

#include <string.h>

#define NEARLY_ALL 0.9 // Share of the peak that is still live.

static const struct {
    const char *name;
    bool is_bytes;
} metrics[] = {
    [METRIC_INUSE] = {"inuse", true},  [METRIC_PEAK] = {"peak", true},
    [METRIC_ALLOC] = {"alloc", true},  [METRIC_TEMPORARY] = {"temporary", false},
    [METRIC_COUNT] = {"count", false},
};

bool
metric_parse(const char *name, enum metric *ret)
{
    for (size_t i = 0; i < countof(metrics); i++)
        if (strcmp(metrics[i].name, name) == 0) {
            *ret = (enum metric)i;
            return true;
        }
    return false;
}

const char *
metric_name(enum metric m)
{
    return metrics[m].name;
}

bool
metric_is_bytes(enum metric m)
{
    return metrics[m].is_bytes;
}

int64_t
metric_value(const struct counters *c, enum metric m)
{
    switch (m) {
    case METRIC_INUSE:
        return counters_live_bytes(c);
    case METRIC_PEAK:
        return c->peak_bytes;
    case METRIC_ALLOC:
        return c->allocated_bytes;
    case METRIC_TEMPORARY:
        return counters_within_16(c);
    case METRIC_COUNT:
        return c->allocations;
    }
    return 0;
}

bool
metric_is_known(const struct counters *c, enum metric m)
{
    return !c->partial || (m != METRIC_PEAK && m != METRIC_TEMPORARY);
}

bool
metric_is_known_of(const struct profile *p, enum metric m)
{
    return p->extent == EXTENT_PEAK ? m == METRIC_INUSE : metric_is_known(&p->totals, m);
}

enum metric
metric_first(const struct profile *p, const struct counters *c)
{
    bool nearly_all = (double)counters_live_bytes(c) >= NEARLY_ALL * (double)c->peak_bytes;

    return p->extent != EXTENT_WHOLE || c->partial || nearly_all ? METRIC_INUSE : METRIC_PEAK;
}

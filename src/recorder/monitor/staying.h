/* staying.h: functions of the next allocator that are made of others. */
#ifndef MONITOR_STAYING_H
#define MONITOR_STAYING_H

#include "monitor/behind.h"

/* Replace those of N, an allocator of which it is not known that they keep to themselves, by ones
 * that call them so that their calls of one another are no events. Not for the result of itself. */
void staying_in_front(struct next *n);

/* N's malloc itself. */
alloc_fn *staying_malloc_behind(const struct next *n);

#endif

/* errors.h: records the variance of estimates, per site; see errors.c. */
#ifndef EVENT_ERRORS_H
#define EVENT_ERRORS_H

#include "account/thread.h"
#include "sampling/draw.h"

enum errors_event { ERRORS_ALLOC, ERRORS_FREE };

/* Add a sample of SITE with weight W, at its allocation or free. Call before T's counters change,
 * because errors are saved for the peak under the same condition as counters. If memory is
 * exhausted, the variance of SITE is not recorded. */
void errors_count(const struct thread *t, uint32_t site, const struct draw_weight *w,
                  enum errors_event event);

#endif

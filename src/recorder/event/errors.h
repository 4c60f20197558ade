/* errors.h: what estimates may be off by, per site; see errors.c. */
#ifndef EVENT_ERRORS_H
#define EVENT_ERRORS_H

#include "account/thread.h"
#include "sampling/draw.h"

enum errors_event { ERRORS_ALLOC, ERRORS_FREE };

/* A sample of SITE with weight W comes or goes. Called before T's counters change: while they only
 * rise to the peak, these are not saved for it either. Without memory nothing is kept. */
void errors_count(const struct thread *t, uint32_t site, const struct draw_weight *w,
                  enum errors_event event);

#endif

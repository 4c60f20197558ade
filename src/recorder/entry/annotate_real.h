/* annotate_real.h: functions in front of the real allocator that annotate its blocks. */
#ifndef ENTRY_ANNOTATE_REAL_H
#define ENTRY_ANNOTATE_REAL_H

#include "allocator/real.h"

/* If blocks get annotations, replace the functions in N that return or take blocks, and the
 * operators of the same allocator. Call once, before N is used. */
void annotate_real_in_front(struct real_allocator *n);

#endif

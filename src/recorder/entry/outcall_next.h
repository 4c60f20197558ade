/* outcall_next.h: functions of the next allocator that are made of others. */
#ifndef ENTRY_OUTCALL_NEXT_H
#define ENTRY_OUTCALL_NEXT_H

#include "allocator/behind.h"

/* Replace those of N, an allocator of which it is not known that they keep to themselves, by ones
 * that call them so that their calls of one another are no events. N must not have them already. */
void outcall_next_in_front(struct next *n);

#endif

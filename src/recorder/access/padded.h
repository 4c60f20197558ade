/* padded.h: functions put in front of the allocator's, so that behind each block is room for its
 * facts, and no two share a granule. In products that count no accesses this is nothing. */
#ifndef ACCESS_PADDED_H
#define ACCESS_PADDED_H

#include "allocator/behind.h"

#ifdef HEAPTAP_ACCESS

/* Put them in front of those in N. To be called once. */
void padded_in_front(struct next *n);

#else

static inline void
padded_in_front(struct next *n)
{
    (void)n;
}

#endif

#endif

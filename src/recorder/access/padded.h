/* padded.h: wrappers of the allocator's functions. They leave room for facts after each block, and
 * prevent two blocks from sharing a granule. In products without counting they have no effect. */
#ifndef ACCESS_PADDED_H
#define ACCESS_PADDED_H

#include "allocator/real.h"

#ifdef HEAPTAP_ACCESS

/* Replace the functions in N by the wrappers. Call once. */
void padded_in_front(struct real_allocator *n);

#else

static inline void
padded_in_front(struct real_allocator *n)
{
    (void)n;
}

#endif

#endif

/* holder.h: who held the most at the peak, in one line. */
#ifndef ANALYSE_HOLDER_H
#define ANALYSE_HOLDER_H

#include "analyse/stacks.h"

struct holder {
    uint32_t frame;    // Index into p->frames, and the location it came from.
    uint32_t location;
    int64_t bytes;     // Live at the peak in all stacks that are charged to its function.
};

/* The first frame of S, innermost first, that the user wrote: of the program or of a library that
 * is no part of the system's C or C++ runtime, and no function of a standard library. Index into
 * S->frames; 0 if there is none. S has a frame. */
uint32_t holder_frame(const struct profile *p, const struct stack *s);

/* The function that the most bytes of the peak are charged to, each stack being charged to the
 * function of its holder_frame. False if nothing is known of a peak. */
bool holder_of_peak(const struct profile *p, const struct stacks *stacks, struct holder *ret);

#endif

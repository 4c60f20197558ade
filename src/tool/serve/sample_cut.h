/* sample_cut.h: fewer stacks with the same sums. */
#ifndef SERVE_SAMPLE_CUT_H
#define SERVE_SAMPLE_CUT_H

#include "analyse/stacks.h"

/* Reduce S, of P, to at most MAX stacks, MAX >= 1. The smallest ones become stacks without frames,
 * which views name FRAME_NAME_OTHER: one for each heap and set of labels, or one in all if there
 * are too many. Sums are unchanged. From ARENA. */
void sample_cut(const struct profile *p, struct stacks *s, size_t max, struct arena *arena);

#endif

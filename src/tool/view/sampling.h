/* sampling.h: recording modes, and the accuracy of numbers, in words. */
#ifndef VIEW_SAMPLING_H
#define VIEW_SAMPLING_H

#include "analyse/stacks.h"

/* Return MODE in words: "exact", "one block in 512 KiB", "one call in 1,000", "off". */
const char *sampling_mode(struct arena *arena, const struct profile_recording_mode *mode);

/* Return the recording modes of P, in a few words for the header. */
const char *sampling_how(struct arena *arena, const struct profile *p);

/* Return the time that P's counters cover, if P is cut: "As it was at 1 min 4 s (loaded)". */
const char *sampling_extent(struct arena *arena, const struct profile *p);

/* Return "± 3 %", or "few" if there are too few samples to trust the number; "" for exact
 * numbers. */
const char *sampling_mark(struct arena *arena, const struct counters *c, const struct errors *e,
                          enum metric metric);

/* Return " ± 3 %" or, with few samples, " (few: 1.2 MiB–3.4 MiB)"; "" for exact numbers. */
const char *sampling_error(struct arena *arena, const struct counters *c, const struct errors *e,
                           enum metric metric);

#endif

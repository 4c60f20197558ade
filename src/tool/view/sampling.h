/* sampling.h: ways of recording, and how sure a number is, in words. */
#ifndef VIEW_SAMPLING_H
#define VIEW_SAMPLING_H

#include "analyse/stacks.h"

/* "exact", "one block in 512 KiB", "one call in 1,000", "off". */
const char *sampling_mode(struct arena *arena, const struct profile_way *way);

/* How P was recorded, in a few words for the header. */
const char *sampling_how(struct arena *arena, const struct profile *p);

/* "As it was at 1 min 4 s (loaded)": the time that P's counters are of, if it was cut to a part. */
const char *sampling_extent(struct arena *arena, const struct profile *p);

/* "± 3 %", or "few" when there are too few samples to trust the number; "" where nothing was left
 * out. */
const char *sampling_mark(struct arena *arena, const struct counters *c, const struct errors *e,
                          enum metric metric);

/* " ± 3 %" or, when the samples are few, " (few: 1.2 MiB–3.4 MiB)"; "" where nothing was left
 * out. */
const char *sampling_error(struct arena *arena, const struct counters *c, const struct errors *e,
                           enum metric metric);

#endif

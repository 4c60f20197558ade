/* sampling.h: ways of recording, as options ask for them and as views say them. */
#ifndef CLI_SAMPLING_H
#define CLI_SAMPLING_H

#include "analyse/stacks.h"

struct text_view;

/* Are the values of --sample and --sample-count (0 = not given) ones that the recorder takes? */
int sampling_check(uint64_t bytes, uint64_t count, struct err *err);

/* "exact", "one block in 512 KiB", "one call in 1,000", "off". */
const char *sampling_mode(struct arena *arena, const struct profile_phase *phase);

/* How P was recorded, in a few words for the header. */
const char *sampling_how(struct arena *arena, const struct profile *p);

/* "As it was at 1 min 4 s (loaded)": of which time the counters of P are, which is not whole. */
const char *sampling_extent(struct arena *arena, const struct profile *p);

/* What was in force when, and what a site may have had of which nothing was seen: lines under the
 * totals, nothing when all was recorded. */
void sampling_text(struct text_view *v);

/* The snapshots that have a name, the first few; nothing when there is none. */
void sampling_snapshots(struct text_view *v);

/* "± 3 %", or "few" when there are too few samples to trust the number; "" where nothing was left
 * out. */
const char *sampling_mark(struct arena *arena, const struct counters *c, const struct errors *e,
                          enum metric metric);

/* " ± 3 %" or, when the samples are few, " (few: 1.2 MiB–3.4 MiB)"; "" where nothing was left
 * out. */
const char *sampling_error(struct arena *arena, const struct counters *c, const struct errors *e,
                           enum metric metric);

#endif

/* phrases.h: words for sizes, places, metrics and moments, identical in all views. */
#ifndef VIEW_PHRASES_H
#define VIEW_PHRASES_H

#include "analyse/paths.h"
#include "analyse/stacks.h"

/* Names of enum timeline_by: "live", "growth", "allocated", "calls"; then NULL. */
extern const char *const timeline_by_names[];

/* Return the title of P's column of METRIC. */
const char *phrase_metric_column(const struct profile *p, enum metric metric);

/* Return the title of METRIC_TEMPORARY for C, or the definition of these blocks: "Short-lived",
 * "died within 16 allocations"; for an older or a sampled profile "Temporary", "died before the
 * next allocation". */
const char *phrase_short_lived_title(const struct counters *c);
const char *phrase_short_lived(const struct counters *c);

/* Return the name of P's live bytes: "Still live at end"; "Growth of live" in a cut profile. */
const char *phrase_live(const struct profile *p);

/* Return a block size or a limit of sizes: "24 B", "64 KiB" rather than "64.0 KiB". From ARENA. */
const char *phrase_size(struct arena *arena, uint64_t bytes);

/* Return the place of FRAME: "dir/file.c:12" (the whole path if FULL), or the module's base name if
 * there is no file. From ARENA. */
const char *phrase_place(const struct profile *p, uint32_t frame, bool full, struct arena *arena);

/* Return " and 4 more lines", the suffix for a row that sums COUNT lines besides the one shown; ""
 * for 0. From ARENA. */
const char *phrase_more_lines(size_t count, struct arena *arena);

/* Return the place where step I of PATH, FUNCTION, was called: "file.c:12" or "libx.so+0x1f30"; ""
 * if the step has no frame. From ARENA. */
const char *phrase_call_site(const struct profile *p, const struct path *path, uint32_t i,
                             uint32_t function, struct arena *arena);

#endif

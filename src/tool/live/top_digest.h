/* top_digest.h: the rows of one reading, for `heaptap top`. Computed in the thread that reads
 * (watch.h); no terminal is needed. */
#ifndef LIVE_TOP_DIGEST_H
#define LIVE_TOP_DIGEST_H

#include "analyse/group.h"
#include "analyse/timeline.h"
#include "live/watch.h"

/* Amounts of a row that differ from reading to reading. */
struct top_amounts {
    int64_t live_bytes, allocated_bytes, allocations, short_lived;
};

/* A row: a function, site, line, module, thread, heap, set of labels or type. Other functions
 * contain the blocks of those that they called: these are inclusive. */
struct top_row {
    uint64_t key;            // Equal for the same row in all readings.
    const char *name, *place; // Clean texts; place may be "".
    struct counters inclusive, self;
    const struct errors *inclusive_errors, *self_errors; // NULL = exact.
    struct top_amounts before, marked; // Inclusive amounts at the reading before, and at the mark.
    bool has_before, has_marked;       // These are known.
    int64_t history[TREND_POINTS]; // Inclusive live bytes, evenly spread from the start to now.
    enum timeline_trend trend;
    uint32_t stack; // Index of the stack with most live bytes; UINT32_MAX = none.
    uint32_t frame; // One of its frames, for its source; GROUP_NO_FRAME = none.
};

/* The rows of a reading, at most about TOP_ROWS_MAX: the largest by each metric. */
enum { TOP_ROWS_MAX = 20000 };

struct top_digest {
    struct arena arena;
    const struct profile *p;
    struct stacks stacks;
    enum group_by by;
    struct top_row *rows; // In no particular order.
    size_t count;
    size_t all;        // Number of rows before the selection.
    bool has_history;  // The histories and trends are known.
    bool has_rows_of_callees; // Inclusive and self amounts differ.
    struct map index;  // Key to index plus 1.
    struct moment now, before; // This reading, and the one before it.
    struct moment mark;        // Where `marked` was counted; without a time = nowhere.
    uint64_t mark_unix_ns;
    char *trouble; // Why the rows are not as wished; NULL = they are.
};

/* Wishes of the user. Only the thread that reads has them; change them by watch_do. */
struct top_wishes {
    uint32_t process;   // Id of the process to make rows of; others get no digest.
    enum group_by by;
    const char *filter; // Regular expression, as --filter; NULL = none.
    const struct view_options *view;
    bool types;         // Find types, which BY_TYPE needs.
    struct reading *marked; // The reading that the user marked; NULL = none.
    struct top_mark *marks; // By process and grouping, at most one each.
};

/* Functions for struct watch_options; ARG is a struct top_wishes. */
void *top_digest_make(void *arg, struct profile *p, const struct reading *reading,
                      const void *previous);
void top_digest_free(void *digest);

/* Count changes from READING on, which W keeps; NULL = from the first reading of a grouping. */
void top_wishes_mark(struct top_wishes *w, struct reading *reading);

/* Count changes from the next reading on, unless the user has marked one. */
void top_wishes_forget(struct top_wishes *w);

/* Return the row KEY of D; NULL if there is none. */
const struct top_row *top_digest_find(const struct top_digest *d, uint64_t key);

/* Return the present amounts of R, inclusive. */
struct top_amounts top_row_amounts(const struct top_row *r);

#endif

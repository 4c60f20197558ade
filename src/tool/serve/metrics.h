/* metrics.h: the numbers of processes as text for Prometheus. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "profile/profile.h"
#include "util/strbuf.h"

enum {
    METRICS_NAME_BYTES = 256,
    METRICS_LOSSES = 5,         // Causes of lost events.
    METRICS_NAMED_MAX = 80,     // Named amounts of one process.
    METRICS_FUNCTIONS_MAX = 32, // At most so many are functions, heaps or values.
    METRICS_HEAPS_MAX = 16,
    METRICS_LABELS_MAX = 32,
    METRICS_SERIES_MAX = 2000,
};

enum metrics_kind { METRICS_FUNCTION, METRICS_HEAP, METRICS_LABEL };

/* Live bytes of a function, of a heap, or of a value of a label. */
struct metrics_named {
    uint32_t kind; // enum metrics_kind
    char key[METRICS_NAME_BYTES];  // Key of the label; "" for others.
    char name[METRICS_NAME_BYTES]; // "" = everything that has no entry.
    int64_t live_bytes;
};

/* The numbers of a process at its last reading. The struct crosses a pipe, so it has no pointer. */
struct metrics_process {
    char program[METRICS_NAME_BYTES];
    int64_t allocations, allocated_bytes, frees, freed_bytes;
    int64_t peak_bytes;
    uint64_t recorder_bytes, sample_period_bytes;
    uint64_t losses[METRICS_LOSSES];
    uint32_t named_count;
};

struct metrics_row {
    struct metrics_process numbers;
    const struct metrics_named *named; // numbers.named_count entries.
    bool ended; // Its counts remain in the sums of its program, but nothing of it is live.
};

/* Store TEXT in RET as valid UTF-8, cut to fit. */
void metrics_name(char ret[METRICS_NAME_BYTES], const char *text);

/* Replace the counters of NEW by the counters of OLD where OLD has more. A counter that falls would
 * look like a restart of the program. */
void metrics_keep_rising(struct metrics_process *new, const struct metrics_process *old);

/* Append the text of ROWS, in the order in which they appeared, to OUT. UNREADABLE is the number of
 * profiles that could not be read. There are at most METRICS_SERIES_MAX lines with values; later
 * programs share the name "other". */
void metrics_text(const struct metrics_row *rows, size_t count, uint64_t unreadable,
                  struct strbuf *out);

#endif

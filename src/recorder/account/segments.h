/* segments.h: an array in private memory that grows by segments, each as large as all before it.
 *
 * A record never moves, so an index is valid without a lock. Address space grows with the use: a
 * program with a small array, or with a limit on address space, never reserves the maximum. The
 * owner allocates the first segment and indexes it without a lookup. The others are found by the
 * highest bit of the index. Lock-free and thread-safe in an event. */
#ifndef ACCOUNT_SEGMENTS_H
#define ACCOUNT_SEGMENTS_H

#include "account/account_state.h"
#include "base/base.h"

/* The records of an array: their size, and the log2 of their number in the first segment. */
struct segments_shape {
    uint32_t record_bytes;
    uint32_t first_bits;
};

/* Return record INDEX of S, which segments_make created. INDEX is beyond the first segment. */
void *segments_at(const struct segments *s, struct segments_shape shape, uint64_t index);

/* Create the segment of record INDEX, which is beyond the first one, and prefault up to INDEX. The
 * array has at most MAX records. Return false without memory. */
bool segments_make(struct segments *s, struct segments_shape shape, uint64_t index, uint64_t max);

/* Unmap the records from AFTER on, beyond the first segment. BEFORE was the maximum so far. One
 * thread at a time. */
void segments_give_back(struct segments *s, struct segments_shape shape, uint64_t before,
                        uint64_t after);

#endif

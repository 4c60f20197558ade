/* segments.h: implements an array in private memory that grows by segments. Each segment is as
 * large as all previous ones together.
 *
 * A record never moves, so an index is valid without a lock. Address space grows with the use: a
 * program with a small array, or with a limit on address space, never reserves the maximum. The
 * owner allocates the first segment and indexes it without a lookup. The highest bit of an index
 * selects one of the other segments. Lock-free and thread-safe in an event. */
#ifndef ACCOUNT_SEGMENTS_H
#define ACCOUNT_SEGMENTS_H

#include "account/account_state.h"
#include "base/base.h"

/* The shape of an array: the size of its records in bytes, and the log2 of their number in the
 * first segment. */
struct segments_shape {
    uint32_t record_bytes;
    uint32_t first_bits;
};

/* Return record INDEX of S, which segments_make created. INDEX is not in the first segment. */
void *segments_at(const struct segments *s, struct segments_shape shape, uint64_t index);

/* Create the segment of record INDEX, which is not in the first segment, and prefault it up to
 * INDEX. The array has at most MAX records. Return false if memory is exhausted. */
bool segments_make(struct segments *s, struct segments_shape shape, uint64_t index, uint64_t max);

/* Unmap the records from AFTER on that are not in the first segment. BEFORE was the maximum number
 * of records so far. Only one thread at a time may call this. */
void segments_give_back(struct segments *s, struct segments_shape shape, uint64_t before,
                        uint64_t after);

#endif

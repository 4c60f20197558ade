/* records.h: adds blocks to the records of their sites. Thread-safe in an event. */
#ifndef ACCESS_RECORDS_H
#define ACCESS_RECORDS_H

#include "access/access_state.h"

/* A block that ends, or is merged while it lives. */
struct access_block {
    uintptr_t p;
    uint64_t size_bytes;
    bool dated;
    bool moved; // A reallocation ended it, so its data may live on.
    uint64_t began, ended; // Moments of clock.h.
    // Sums of its counters.
    uint64_t accesses, writes, granules, touched_granules, untouched_bytes;
    uint64_t lifetime_us;
};

/* Read the counters of B, whose address and size are set. */
void records_read(struct access_block *b);

/* Add B to PART of SITE; MERGE is 0 unless it is a live part. */
void records_add(const struct access_block *b, uint32_t site, enum disk_access_part part,
                 uint64_t merge);

/* Subtract B, the latest block that was added to PART of SITE. A minimum or maximum that B has
 * changed stays. */
void records_take_back(const struct access_block *b, uint32_t site, enum disk_access_part part);

/* Count B, which was added to PART of SITE as moved, as regrown: the new block has the same
 * stack. */
void records_regrow(const struct access_block *b, uint32_t site, enum disk_access_part part);

/* Count B, which was added to PART of SITE as moved, as a block whose data has ended with it. */
void records_end_moved(const struct access_block *b, uint32_t site, enum disk_access_part part);

/* Move the contents of the late PART of all sites to ENDED. */
void records_settle(enum disk_access_part part);

/* Reset all records: they contain no blocks. */
void records_forget(void);

#endif

/* records.h: adds blocks to the records of their sites. Thread-safe in an event. */
#ifndef ACCESS_RECORDS_H
#define ACCESS_RECORDS_H

#include "access/access_state.h"

/* A block that is ending, or that is merged while it is live. */
struct access_block {
    uintptr_t p;
    uint64_t size_bytes;
    bool dated;
    bool moved; // A reallocation ended the block, so its data may remain in use.
    uint64_t began, ended; // Moments of clock.h.
    // Sums of the counters.
    uint64_t accesses, writes, granules, touched_granules, untouched_bytes;
    uint64_t lifetime_us;
};

/* Read the counters of B, whose address and size are set. */
void records_read(struct access_block *b);

/* Add B to PART of SITE. MERGE is 0 unless PART is a live part. */
void records_add(const struct access_block *b, uint32_t site, enum disk_access_part part,
                 uint64_t merge);

/* Subtract B, the latest block added to PART of SITE. Minimum and maximum keep the changes that B
 * has made. */
void records_take_back(const struct access_block *b, uint32_t site, enum disk_access_part part);

/* Count B as regrown if it was written and never read. Call if B was added to PART of SITE as
 * moved, and the new block has the same stack. */
void records_regrow(const struct access_block *b, uint32_t site, enum disk_access_part part);

/* Count B as write-only if it was written and never read. Call if B was added to PART of SITE as
 * moved, and no new block has its data. */
void records_end_moved(const struct access_block *b, uint32_t site, enum disk_access_part part);

/* Add the late PART of all sites to their part ENDED, and reset PART to no blocks. */
void records_flush(enum disk_access_part part);

/* Reset all records to contain no blocks. */
void records_reset(void);

#endif

/* records.h: adding blocks to the records of their sites. Any thread may call these in an event. */
#ifndef ACCESS_RECORDS_H
#define ACCESS_RECORDS_H

#include "access/access_state.h"

/* A block that ends, or is merged. */
struct access_block {
    uintptr_t p;
    uint64_t size_bytes;
    bool dated;
    uint64_t began, ended; // Of cycles.h.
    // What its counters come to.
    uint64_t accesses, writes, granules, touched_granules, untouched_bytes;
    uint64_t lifetime_us;
};

/* Read the counters of B, whose address and size are set. */
void records_read(struct access_block *b);

/* Add B to PART of SITE; MERGE is 0 unless it is a live part. */
void records_add(const struct access_block *b, uint32_t site, enum disk_access_part part,
                 uint64_t merge);

/* Take B, the latest that was added to PART of SITE, out again, as far as that can be: what it has
 * made of a minimum or maximum stays. */
void records_take_back(const struct access_block *b, uint32_t site, enum disk_access_part part);

/* Add what the late PART of all sites has to ENDED, and leave nothing in it. */
void records_settle(enum disk_access_part part);

/* Make all records those of no block. */
void records_forget(void);

#endif

/* access_sites.h: how the blocks of each stack are used, with a verdict. */
#ifndef ANALYSE_ACCESS_SITES_H
#define ANALYSE_ACCESS_SITES_H

#include "analyse/stacks.h"

/* Verdict on the blocks of a stack; an earlier value takes precedence. */
enum access_verdict {
    ACCESS_UNSEEN = 0,   // Made by a library that counts nothing, and not accessed elsewhere.
    ACCESS_NEVER,        // Neither read nor written.
    ACCESS_NOT_SEEN,     // Like NEVER, but code without counting may use blocks.
    ACCESS_WRITE_ONLY,   // Written and never read.
    ACCESS_NOT_SEEN_READ, // Like WRITE_ONLY, with the same reservation.
    ACCESS_ONCE,         // No word more than once, on average.
    ACCESS_MOSTLY_UNUSED, // Less than half of the bytes have a known use.
    ACCESS_HOT_SMALL,    // Hot, and small enough that several share a page.
    ACCESS_HOT,
    ACCESS_COLD_LONG,    // Cold, and alive for half of the run or longer.
    ACCESS_COLD,
    ACCESS_USED,         // None of these.
    ACCESS_VERDICTS,
};

enum access_heat { HEAT_COLD, HEAT_WARM, HEAT_HOT };

/* Share of all accesses that the hot stacks have, and the factor below the average rate that makes
 * a stack cold. */
#define ACCESS_HOT_SHARE 0.9
#define ACCESS_COLD_TIMES 100
#define ACCESS_SMALL_BYTES 256

struct access_row {
    const struct stack *stack;
    struct profile_access a; // Sum over its sites; a.site is the first.
    uint32_t type;           // String: type of the blocks; 0 = unknown or several.
    uint32_t type_verdict;   // enum profile_verdict
    double per_byte;         // Accesses for each byte of the blocks.
    double byte_seconds;     // Bytes times how long they lived; 0 = no block is dated.
    double rate;             // Accesses for each byte and second; 0 if that is not known.
    enum access_heat heat;
    enum access_verdict verdict;
};

struct access_table {
    struct access_row *v; // Most accesses first.
    size_t count;
    struct profile_access total;
    double byte_seconds, rate; // For the total.
    size_t hot_count;
    uint64_t hot_accesses;
    double hot_byte_seconds;
    size_t unseen_count;
    uint64_t unseen_bytes;
};

/* Summarise the use of the blocks of STACKS, built from P. From ARENA. */
void access_build(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                  struct access_table *ret);

/* Which rows to return, and their order. */
enum access_pick {
    ACCESS_PICK_ALL,   // Most accesses first.
    ACCESS_PICK_HOT,   // Likewise.
    ACCESS_PICK_COLD,  // Most byte-seconds first: long-held memory with little use.
    ACCESS_PICK_NEVER, // Rows with unread blocks, most unread bytes first. Both exclude rows whose
                       // use is unknown.
};

/* Return the rows of T that PICK selects, and their number in *RET_COUNT. From ARENA. */
const struct access_row **access_picked(const struct access_table *t, enum access_pick pick,
                                        struct arena *arena, size_t *ret_count);

/* Number of A's blocks whose data was written and never read, as far as known. */
uint64_t access_write_only_blocks(const struct profile_access *a);

/* Bytes of A's blocks that were never read, as far as known: blocks without accesses and blocks
 * that were only written, assuming that all blocks have the mean size. */
uint64_t access_unread_bytes(const struct profile_access *a);

#endif

/* access_sites.h: which stacks' blocks are used how much, and what to make of it. */
#ifndef ANALYSE_ACCESS_SITES_H
#define ANALYSE_ACCESS_SITES_H

#include "analyse/stacks.h"

/* What is to be said of the blocks of a stack first. Those before go before those behind. */
enum access_verdict {
    ACCESS_UNSEEN = 0,   // Made by a library that counts nothing, and not accessed elsewhere.
    ACCESS_NEVER,        // Neither read nor written.
    ACCESS_NOT_SEEN,     // The same as far as is known: somebody may use blocks unseen.
    ACCESS_WRITE_ONLY,   // Written and never read.
    ACCESS_NOT_SEEN_READ, // The same as far as is known.
    ACCESS_ONCE,         // No word more than once, on average.
    ACCESS_MOSTLY_UNUSED, // Of less than half of the bytes anything is known to be used.
    ACCESS_HOT_SMALL,    // Hot, and small enough that several share a page.
    ACCESS_HOT,
    ACCESS_COLD_LONG,    // Cold, and alive for half of the run or longer.
    ACCESS_COLD,
    ACCESS_USED,         // None of these.
    ACCESS_VERDICTS,
};

enum access_heat { HEAT_COLD, HEAT_WARM, HEAT_HOT };

/* Of all accesses, those of the hot stacks; and by how much less than the average a stack is
 * accessed that is cold. */
#define ACCESS_HOT_SHARE 0.9
#define ACCESS_COLD_TIMES 100
#define ACCESS_SMALL_BYTES 256

struct access_row {
    const struct stack *stack;
    struct profile_access a; // Of all its sites; a.site is the first.
    uint32_t type;           // String: what the blocks of its sites are; 0 = unknown or several.
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
    double byte_seconds, rate; // Of the total.
    size_t hot_count;
    uint64_t hot_accesses;
    double hot_byte_seconds;
    size_t unseen_count;
    uint64_t unseen_bytes;
};

/* How the blocks of STACKS, which are of P, were used. From ARENA. */
void access_build(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                  struct access_table *ret);

/* Which rows are wanted, and in which order. */
enum access_pick {
    ACCESS_PICK_ALL,   // Most accesses first.
    ACCESS_PICK_HOT,   // Likewise.
    ACCESS_PICK_COLD,  // Most byte-seconds first: what memory is kept for little.
    ACCESS_PICK_NEVER, // With blocks that nobody has read; most of their bytes first. Neither has
                       // what is unseen.
};

/* The rows of T that PICK means; their number in *RET_COUNT. From ARENA. */
const struct access_row **access_picked(const struct access_table *t, enum access_pick pick,
                                        struct arena *arena, size_t *ret_count);

/* The bytes of A's blocks that nobody has read, as far as that is known: those of blocks without
 * accesses and of blocks that were only written, as if all blocks were of the mean size. */
uint64_t access_unread_bytes(const struct profile_access *a);

#endif

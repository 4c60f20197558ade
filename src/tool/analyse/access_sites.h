/* access_sites.h: use of the blocks of each stack, with a verdict. */
#ifndef ANALYSE_ACCESS_SITES_H
#define ANALYSE_ACCESS_SITES_H

#include "analyse/stacks.h"

/* Verdict on the blocks of a stack. If several apply, the first one is given. */
enum access_verdict {
    // A library without counting allocated the blocks, and nothing else accessed them.
    ACCESS_UNSEEN = 0,
    ACCESS_NEVER,        // Neither read nor written.
    ACCESS_NOT_SEEN,     // Like NEVER, but uncounted code may use the blocks.
    ACCESS_WRITE_ONLY,   // Written and never read.
    ACCESS_NOT_SEEN_READ, // Like WRITE_ONLY, but uncounted code may read the blocks.
    ACCESS_ONCE,         // Each touched word had one access, on average.
    ACCESS_MOSTLY_UNUSED, // Less than half of the bytes were touched.
    ACCESS_HOT_SMALL,    // Hot, and small enough that several share a page.
    ACCESS_HOT,
    ACCESS_COLD_LONG,    // Cold, and alive for half of the run or longer.
    ACCESS_COLD,
    ACCESS_USED,         // None of these.
    ACCESS_VERDICTS,
};

enum access_heat { HEAT_COLD, HEAT_WARM, HEAT_HOT };

/* ACCESS_HOT_SHARE: maximum share of all accesses that the hot stacks have together.
 * ACCESS_COLD_TIMES: a stack is cold if its rate is below the average divided by this number.
 * ACCESS_SMALL_BYTES: largest mean size of small blocks. */
#define ACCESS_HOT_SHARE 0.9
#define ACCESS_COLD_TIMES 100
#define ACCESS_SMALL_BYTES 256

struct access_row {
    const struct stack *stack;
    struct profile_access a; // Sum over the sites of the stack; a.site is the first of them.
    uint32_t type;           // String: type of the blocks; 0 = unknown or several.
    uint32_t type_verdict;   // enum profile_verdict
    double per_byte;         // Accesses per byte of the blocks.
    double byte_seconds;     // Bytes times seconds of lifetime; 0 = no lifetime is known.
    double rate;             // Accesses per byte and second; 0 = unknown.
    enum access_heat heat;
    enum access_verdict verdict;
};

struct access_table {
    struct access_row *v; // Most accesses first.
    size_t count;
    struct profile_access total;
    double byte_seconds, rate; // Of all rows together.
    size_t hot_count;
    uint64_t hot_accesses;
    double hot_byte_seconds;
    size_t unseen_count;
    uint64_t unseen_bytes;
};

/* Build the table of the use of STACKS' blocks into *RET. STACKS are built from P. From ARENA. */
void access_build(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                  struct access_table *ret);

/* Rows to return, and their order. */
enum access_pick {
    ACCESS_PICK_ALL,   // Most accesses first.
    ACCESS_PICK_HOT,   // Only hot rows, most accesses first.
    // Only cold rows of known use, most byte-seconds first. They hold memory for long and use it
    // little.
    ACCESS_PICK_COLD,
    ACCESS_PICK_NEVER, // Only rows of known use with unread blocks, most unread bytes first.
};

/* Return the rows of T that PICK selects, and their number in *RET_COUNT. From ARENA. */
const struct access_row **access_picked(const struct access_table *t, enum access_pick pick,
                                        struct arena *arena, size_t *ret_count);

/* Return the number of A's blocks whose data was written and, as far as known, never read. */
uint64_t access_write_only_blocks(const struct profile_access *a);

/* Return the bytes of A's blocks that, as far as known, were never read: blocks without accesses
 * and blocks that were only written. Assumes that all blocks have the mean size. */
uint64_t access_unread_bytes(const struct profile_access *a);

#endif

/* oracle.h: the file that the oracle writes and tool_compare reads. The oracle updates it through a
 * shared mapping, so it is complete whenever and however the process ends.
 *
 *     0                      struct oracle_header, zero-padded to ORACLE_SITES_OFF
 *     ORACLE_SITES_OFF       struct oracle_site[ORACLE_SITES_MAX]; site 0 is not used
 *     ORACLE_WORDS_OFF       uint64_t[ORACLE_WORDS_MAX]: the stacks, innermost address first
 *
 * The file is sparse; only used parts occupy space. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdint.h>

#define ORACLE_MAGIC UINT64_C(0x31656c636172484f)
/* Flag in a stack word: the word is the address of an interrupted instruction, not a return
 * address. */
#define ORACLE_EXACT (UINT64_C(1) << 63)


enum {
    ORACLE_SITES_MAX = 1 << 20,
    ORACLE_WORDS_MAX = 1 << 26,
    ORACLE_SMALL_BINS = 1025, // Number of bins for single sizes, 0 to 1024 bytes.
    ORACLE_RANGE_BINS = 64,   // Number of bins for ranges; range i has 2^i < size <= 2^(i + 1).
};

struct oracle_counters {
    int64_t allocations, allocated_bytes;
    int64_t frees, freed_bytes;
    int64_t reallocations, moved, grown_bytes;
    // Freed after 0, 1 to 15, 16 to 255 further allocations.
    int64_t temporary, ended_16, ended_256;
    int64_t peak_blocks, peak_bytes; // Live at the process's peak.
    uint64_t size_min, size_max;     // Only valid with allocations.
};

struct oracle_site {
    struct oracle_counters counters;
    uint64_t hash;
    uint64_t words;  // Index of the first word in the stack.
    uint32_t depth;
    uint32_t next;   // Next in the hash chain; 0 ends the chain.
    uint32_t dirty;  // True if changed since the last peak.
    uint32_t unused;
};

struct oracle_bin {
    int64_t allocations, allocated_bytes, frees, freed_bytes;
};

struct oracle_header {
    uint64_t magic; // Written last.
    uint64_t pid;
    uint64_t site_count; // Number of sites in use, site 0 included.
    uint64_t word_count;
    struct oracle_counters totals;
    int64_t failed_calls;       // Calls that returned no block.
    int64_t unknown_frees;      // Frees of blocks whose allocation was never seen.
    int64_t overwritten_blocks; // Allocations at a live block's address: its free was missed.
    int64_t inside_calls;       // Events inside the unwinder, which no other counter includes.
    int64_t full;               // Events dropped because a table was full.
    char executable[512];       // From /proc/self/exe; truncated if longer.
    struct oracle_bin small[ORACLE_SMALL_BINS];
    struct oracle_bin range[ORACLE_RANGE_BINS];
};

#define ORACLE_SITES_OFF UINT64_C(65536)
#define ORACLE_WORDS_OFF \
    (ORACLE_SITES_OFF + (uint64_t)ORACLE_SITES_MAX * sizeof(struct oracle_site))
#define ORACLE_FILE_BYTES (ORACLE_WORDS_OFF + (uint64_t)ORACLE_WORDS_MAX * sizeof(uint64_t))

_Static_assert(sizeof(struct oracle_header) <= ORACLE_SITES_OFF, "it lies in front of the sites");

#endif

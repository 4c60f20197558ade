/* scan.h: find every word that may be a pointer. */
#ifndef IMAGE_SCAN_H
#define IMAGE_SCAN_H

#include "image/examined.h"

// Bytes above the thread pointer: libc's control block of the thread.
enum { SCAN_CONTROL_BYTES = 0x900 };

/* Kind of memory that keeps a block alive. */
enum scan_kind {
    SCAN_VARIABLE, // A variable of a program or library.
    SCAN_STACK,    // A stack, from the stack pointer outwards, or thread-local variables.
    SCAN_REGISTER,
    SCAN_MAPPED, // Memory that the program has mapped itself, past malloc.
};

/* A root: memory outside of the heap at which a search for reachable blocks begins. */
struct scan_range {
    enum scan_kind kind;
    uint64_t start, end;
    const struct memory_thread *thread; // STACK
    bool is_libc; // The range has the variables of libc's allocator.
    bool is_tls;  // STACK: thread-local variables, and libc's record of the thread.
};

/* Certainty that the program still uses the pointers in a root, highest first. A stack may contain
 * remains of functions that have returned, and mapped memory remains of another heap. */
enum root_rank {
    RANK_VARIABLE, // Thread-local variables as well.
    RANK_STACK,    // And registers.
    RANK_MAPPED,   // Memory that the program has mapped past malloc.
    RANK_LOST,     // No root.
};

enum root_rank root_rank(const struct scan_range *root);

/* List all roots of E in an array from ARENA, in the order of enum scan_kind. Return their number.
 * Registers are not included; memory_thread has them. The recorder's memory is left out. */
size_t scan_ranges(const struct examined *e, struct arena *arena, struct scan_range **ret);

/* Return true if VALUE is the allocator's pointer to the chunk behind block B. VALUE is a word of
 * libc's variables that points into B, because the head of glibc's next chunk begins in B's last
 * word. */
static inline bool
scan_is_next_chunk(const struct block *b, uint64_t value)
{
    enum { CHUNK_HEAD_BYTES = 16 };

    return value == b->address + b->size_bytes + b->slack_bytes - CHUNK_HEAD_BYTES;
}

/* A function that is called with the word VALUE at address AT. */
typedef void scan_fn(void *arg, uint64_t at, uint64_t value);

/* Call FN with each aligned, nonzero word of [START, END) that can be read. */
void scan_words(const struct examined *e, uint64_t start, uint64_t end, scan_fn *fn, void *arg);

/* Return an array from ARENA with the number of bytes to search in each block of E: the block's
 * size. An uncertain size is replaced by a generous guess that ends at the next block. */
uint64_t *scan_extents(const struct examined *e, struct arena *arena);

/* Return the index plus 1 of the block that contains ADDRESS, by EXTENTS; 0 if there is none. */
size_t scan_block_at(const struct examined *e, const uint64_t *extents, uint64_t address);

#endif

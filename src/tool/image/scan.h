/* scan.h: looking at every word that may be a pointer. */
#ifndef IMAGE_SCAN_H
#define IMAGE_SCAN_H

#include "image/examined.h"

/* Where a word is that keeps a block alive. */
enum scan_kind {
    SCAN_VARIABLE, // Of a program or library.
    SCAN_STACK,    // From the thread's stack pointer on outwards, thread-local variables included.
    SCAN_REGISTER,
    SCAN_MAPPED, // In memory that the program has mapped by itself, past malloc.
};

/* Memory whose words are nobody's to free: where a search for what can be reached begins. */
struct scan_range {
    enum scan_kind kind;
    uint64_t start, end;
    const struct memory_thread *thread; // STACK
    bool is_libc; // Among the variables are those of the allocator.
};

/* All such ranges of E, in the order above, into an array from ARENA. Registers are not among them;
 * memory_thread has those. What the recorder keeps for itself is left out. */
size_t scan_ranges(const struct examined *e, struct arena *arena, struct scan_range **ret);

/* Whether VALUE, found among libc's variables, which points into block B, is the allocator's
 * pointer to the chunk behind B: the head of a chunk of glibc's lies in the last word of the block
 * before. */
static inline bool
scan_is_next_chunk(const struct block *b, uint64_t value)
{
    enum { HEAD_BYTES = 16 };

    return value == b->address + b->size_bytes + b->slack_bytes - HEAD_BYTES;
}

/* Called with a word VALUE, which is at AT. */
typedef void scan_fn(void *arg, uint64_t at, uint64_t value);

/* Call FN with each aligned word of [START, END) that is there. */
void scan_words(const struct examined *e, uint64_t start, uint64_t end, scan_fn *fn, void *arg);

/* How far each block of E reaches for those who look into it, into an array from ARENA: its size,
 * and if that is not known, at most as far as the next one. */
uint64_t *scan_extents(const struct examined *e, struct arena *arena);

/* The block that ADDRESS lies in, by EXTENTS: its index plus 1, or 0. */
size_t scan_block_at(const struct examined *e, const uint64_t *extents, uint64_t address);

#endif

/* texts.h: a bounded set of texts that keeps its numbers in forked children.
 *
 * Names of heaps and sets of labels are known to the program by numbers (inside a handle, in a
 * thread's own memory), which a child made by fork goes on using. So these texts are process
 * constants, not state, and are only ever added. Lock-free, signal-safe, no memory of its own.
 */
#ifndef PLATFORM_TEXTS_H
#define PLATFORM_TEXTS_H

#include "base/base.h"

enum { TEXTS_NONE = UINT32_MAX, TEXTS_LENGTH_MAX = 1024 };

/* All zero is empty. */
struct texts {
    uint32_t *places; // Atomic: where in the pool a text begins, plus 1; 0 = free.
    uint32_t place_count;
    uint32_t pool_bytes;
    unsigned char *pool; // Each text behind two bytes with its length.
    uint32_t pool_used;  // Atomic; may run past the end.
};

/* The number of TEXT, below place_count, added if it is new. TEXTS_NONE: no room. */
uint32_t texts_intern(struct texts *t, const void *text, size_t size_bytes);

/* The text of a number that texts_intern has given; of any other, an empty one. */
const void *texts_get(const struct texts *t, uint32_t number, size_t *ret_size_bytes);

#endif

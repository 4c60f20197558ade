/* name_set.h: a bounded set of texts whose numbers stay valid in forked children.
 *
 * The program stores numbers of heap names and label sets, in handles and in the memory of threads.
 * A child made by fork continues to use these numbers. So the texts are process constants instead
 * of state, and no text is ever removed. Lock-free, async-signal-safe, allocates no memory. */
#ifndef PLATFORM_NAME_SET_H
#define PLATFORM_NAME_SET_H

#include "base/base.h"

enum { NAME_SET_NONE = UINT32_MAX, NAME_SET_LENGTH_MAX = 1024 };

/* A set of texts. All zero = empty. */
struct name_set {
    uint32_t *places; // Atomic: start of a text in the pool, plus 1; 0 = free.
    uint32_t place_count;
    uint32_t pool_bytes;
    unsigned char *pool; // The texts, each preceded by two bytes with its length.
    uint32_t pool_used;  // Atomic.
};

/* Return the number of TEXT, less than place_count, and add TEXT if it is new. Return NAME_SET_NONE
 * if there is no room, or if TEXT is too long. */
uint32_t name_set_intern(struct name_set *t, const void *text, size_t size_bytes);

/* Return the text with NUMBER, and its size. Return an empty text if name_set_intern did not return
 * that number. */
const void *name_set_get(const struct name_set *t, uint32_t number, size_t *ret_size_bytes);

#endif

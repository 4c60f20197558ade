/* name_set.h: a bounded set of texts whose numbers stay valid in forked children.
 *
 * The program holds numbers of heap names and label sets (inside a handle, in a thread's own
 * memory), which a child made by fork continues to use. So these texts are process constants, not
 * state, and are only ever added. Lock-free, async-signal-safe, allocates no memory. */
#ifndef PLATFORM_NAME_SET_H
#define PLATFORM_NAME_SET_H

#include "base/base.h"

enum { NAME_SET_NONE = UINT32_MAX, NAME_SET_LENGTH_MAX = 1024 };

/* All zero is empty. */
struct name_set {
    uint32_t *places; // Atomic: a text's start in the pool, plus 1; 0 = free.
    uint32_t place_count;
    uint32_t pool_bytes;
    unsigned char *pool; // Texts, each behind two bytes with its length.
    uint32_t pool_used;  // Atomic.
};

/* Return the number of TEXT, below place_count, adding it if it is new. NAME_SET_NONE: no room, or
 * TEXT is too long. */
uint32_t name_set_intern(struct name_set *t, const void *text, size_t size_bytes);

/* Return the text with NUMBER; an empty text if name_set_intern did not return that number. */
const void *name_set_get(const struct name_set *t, uint32_t number, size_t *ret_size_bytes);

#endif

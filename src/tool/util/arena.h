/* arena.h: memory of the tools. A command keeps its data in one arena; all allocations live until
 * arena_release. Never returns NULL: out of memory ends the program in one place (arena.c). Not
 * thread-safe. */
#ifndef UTIL_ARENA_H
#define UTIL_ARENA_H

#include "base/base.h"

struct arena {
    struct arena_chunk *chunks; // Newest first; NULL in a fresh arena, so {0} is a valid one.
    unsigned char *next;        // First free byte of the newest chunk.
    size_t left_bytes;          // Free bytes of the newest chunk.
};

/* Return SIZE_BYTES zeroed bytes, aligned to 16. Never NULL. */
void *arena_alloc(struct arena *a, size_t size_bytes);

/* Return an array of COUNT zeroed elements. An overflow of the product ends the program, as out of
 * memory does. */
void *arena_array(struct arena *a, size_t count, size_t element_bytes);

/* Return copies and formatted text, NUL-terminated. Never NULL. */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t length);
char *arena_printf(struct arena *a, const char *format, ...) PRINTF(2, 3);

/* Free everything; A is empty ({0}) afterwards. */
void arena_release(struct arena *a);

/* Return true if A's free space is the end of its newest chunk (util/ensure.h). */
bool arena_is_valid(const struct arena *a);

/* Grow *ITEMS (an array from A of *CAPACITY elements) so that index COUNT is valid. Amortised:
 * doubles. */
void arena_grow(struct arena *a, void *items, size_t *capacity, size_t count, size_t element_bytes);

/* Cache some freed memory from now on, for a command that reads many profiles and would otherwise
 * return the pages of each and fault them in again. */
void memory_keep_freed(void);

/* malloc, calloc and realloc that never return NULL, for the few growing buffers that outlive no
 * function. */
void *xmalloc(size_t size_bytes);
void *xcalloc(size_t count, size_t element_bytes);
void *xrealloc(void *p, size_t size_bytes);

#endif

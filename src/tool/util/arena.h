/* arena.h: memory of the tools. A command keeps its data in one arena; all allocations live until
 * arena_release. Functions never return NULL: out of memory ends the program in one place
 * (arena.c). Not thread-safe. */
#ifndef UTIL_ARENA_H
#define UTIL_ARENA_H

#include <stdarg.h>

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

/* Return a NUL-terminated copy or formatted text, allocated from the arena. Never NULL. */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t length);
char *arena_printf(struct arena *a, const char *format, ...) PRINTF(2, 3);
char *arena_vprintf(struct arena *a, const char *format, va_list ap) PRINTF(2, 0);

/* Free all memory of A; A is empty ({0}) afterwards. */
void arena_release(struct arena *a);

/* Return true if A's free bytes are the end of the newest chunk (util/ensure.h). */
bool arena_is_valid(const struct arena *a);

/* Grow *ITEMS, an array from A with *CAPACITY elements, until index COUNT is valid. The capacity
 * doubles, so the cost is amortised. */
void arena_grow(struct arena *a, void *items, size_t *capacity, size_t count, size_t element_bytes);

/* Keep some freed memory in the process instead of returning it to the kernel. For a command that
 * reads many profiles: it would otherwise fault in the same pages for each. */
void memory_keep_freed(void);

/* Like malloc, calloc and realloc, but never return NULL. For the few growing buffers that live
 * only within one function. */
void *xmalloc(size_t size_bytes);
void *xcalloc(size_t count, size_t element_bytes);
void *xrealloc(void *p, size_t size_bytes);

#endif

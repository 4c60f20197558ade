/* python_stats.h: make sys._debugmallocstats work under the adapter's hooks. */
#ifndef LANGUAGE_PYTHON_STATS_H
#define LANGUAGE_PYTHON_STATS_H

#include <stddef.h>

/* An allocator of the interpreter's, as its headers have it (PyMemAllocatorEx). */
struct python_allocator {
    void *context;
    void *(*malloc)(void *context, size_t bytes);
    void *(*calloc)(void *context, size_t count, size_t bytes);
    void *(*realloc)(void *context, void *p, size_t bytes);
    void (*free)(void *context, void *p);
};

/* Before the interpreter begins. */
void python_stats_begin(void);

/* When it has begun, once: while sys._debugmallocstats looks, let it find BEHIND, which stays where
 * it is, in place of the allocator of objects whose malloc is OURS. That is done at the
 * interpreter's next leisure; this may be called inside malloc. */
void python_stats_settle(const struct python_allocator *behind, void *(*ours)(void *, size_t));

#endif

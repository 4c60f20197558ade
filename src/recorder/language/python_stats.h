/* python_stats.h: make sys._debugmallocstats work under the adapter's hooks. */
#ifndef LANGUAGE_PYTHON_STATS_H
#define LANGUAGE_PYTHON_STATS_H

#include <stddef.h>

/* As PyMemAllocatorEx in the interpreter's headers. */
struct python_allocator {
    void *context;
    void *(*malloc)(void *context, size_t bytes);
    void *(*calloc)(void *context, size_t count, size_t bytes);
    void *(*realloc)(void *context, void *p, size_t bytes);
    void (*free)(void *context, void *p);
};

/* Initialise, before the interpreter begins. */
void python_stats_begin(void);

/* Call when the interpreter has begun, once. While sys._debugmallocstats runs, the object allocator
 * whose malloc is OURS is replaced by BEHIND, which must stay at its address. Takes effect at the
 * interpreter's next pending call; may be called inside malloc. */
void python_stats_settle(const struct python_allocator *behind, void *(*ours)(void *, size_t));

#endif

/* python_stats.h: makes sys._debugmallocstats work under the adapter's hooks. */
#ifndef LANGUAGE_PYTHON_STATS_H
#define LANGUAGE_PYTHON_STATS_H

#include <stddef.h>

/* Equals PyMemAllocatorEx of the interpreter's headers. */
struct python_allocator {
    void *context;
    void *(*malloc)(void *context, size_t bytes);
    void *(*calloc)(void *context, size_t count, size_t bytes);
    void *(*realloc)(void *context, void *p, size_t bytes);
    void (*free)(void *context, void *p);
};

/* Initialise. Call before the interpreter is initialised. */
void python_stats_begin(void);

/* Call once, when the interpreter is initialised; inside malloc is permitted. From the
 * interpreter's next pending call on, BEHIND replaces the object allocator whose malloc is OURS
 * while sys._debugmallocstats runs. BEHIND must stay at its address. */
void python_stats_settle(const struct python_allocator *behind, void *(*ours)(void *, size_t));

#endif

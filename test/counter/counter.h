/* counter.h: the layout of the counter's file for one process image; test/torture/counted.py reads
 * it. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

#define COUNTER_MAGIC UINT64_C(0x3174636e756f4348)

struct counter_file {
    uint64_t magic; // Written last.
    uint64_t pid;
    uint64_t allocations; // Number of calls that returned a block, including those of realloc.
    uint64_t frees;       // Number of blocks passed to free or realloc.
    uint64_t failed_calls;
    char executable[512]; // From /proc/self/exe; truncated if longer.
};

/* Counts of the calling thread. */
extern __thread struct counter_seen {
    uint64_t allocations, frees;
} counter_seen __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* counter_allocated counts an allocation that returned P, NULL for a failed call; counter_freed
 * counts a free. Async-signal-safe and lock-free. */
void counter_allocated(const void *p) __attribute__((visibility("hidden")));
void counter_freed(void) __attribute__((visibility("hidden")));

#endif

/* counter.h: the file of one process image, as the counter maps it; test/torture/counted.py reads
 * it.
 */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

#define COUNTER_MAGIC UINT64_C(0x3174636e756f4348)

struct counter_file {
    uint64_t magic; // Written last.
    uint64_t pid;
    uint64_t allocations; // Calls that returned a block, including realloc's.
    uint64_t frees;       // Blocks handed back, including realloc's.
    uint64_t failed_calls;
    char executable[512]; // From /proc/self/exe; cut if longer.
};

/* Counts of this thread. */
extern __thread struct counter_seen {
    uint64_t allocations, frees;
} counter_seen __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Count an allocation that returned P, NULL for a call that failed; and a free. Async-signal-safe,
 * and lock-free. */
void counter_allocated(const void *p) __attribute__((visibility("hidden")));
void counter_freed(void) __attribute__((visibility("hidden")));

#endif

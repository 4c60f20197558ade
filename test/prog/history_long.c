/* cflags: -O1 -fno-optimize-sibling-calls */
/* libs: -Lbuild/test/prog -lfastclock -Wl,-rpath,$ORIGIN */
/* history_long.c: a server that runs for a long time by the clock of libfastclock.c.
 *
 *     history_long SECONDS STACKS
 *
 * Allocates and frees at STACKS places in turn until SECONDS have passed; one block in a thousand
 * is never freed. Ends with "events N". */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 16, OTHER_CALL = 1 << 30, RING = 3000, LEAK_EVERY = 1000 };

extern _Atomic uint64_t fastclock_elapsed_ns;

static void *ring[RING];
static void *volatile block;

/* Make one call for each bit of PATH, which selects between two call sites. */
__attribute__((noinline)) static void
descend(unsigned path, int depth, size_t size_bytes)
{
    if (depth == 0) {
        block = malloc(size_bytes);
        return;
    }
    if (path & 1)
        descend(path >> 1, depth - 1, size_bytes);
    else
        // Otherwise the compiler would merge the two calls.
        descend(path >> 1 | OTHER_CALL, depth - 1, size_bytes);
    __asm__ volatile("" ::: "memory");
}

int
main(int argc, char **argv)
{
    uint64_t end_ns = (uint64_t)(argc > 1 ? atol(argv[1]) : 60) * UINT64_C(1000000000);
    uint64_t stacks = argc > 2 ? (uint64_t)atol(argv[2]) : 50, random = 1, events = 0;

    while (atomic_load(&fastclock_elapsed_ns) < end_ns) {
        uint64_t place = events % RING;

        random = random * UINT64_C(6364136223846793005) + 1;
        free(ring[place]);
        descend((unsigned)((random >> 33) % stacks), DEPTH, (random >> 40) % 30 + 1);
        ring[place] = ++events % LEAK_EVERY == 0 ? NULL : block;
    }
    printf("events %llu\n", (unsigned long long)events);
    return 0;
}

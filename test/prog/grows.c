/* grows.c: allocate at 16384 places, so that every table in the profile has to grow. With an
 * argument, it prints "ready" after its first event and waits for a line, so that a test can
 * replace the profile. It ends with "done", unless growing has broken it. */
/* cflags: -O1 -fno-optimize-sibling-calls */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEPTH = 14, OTHER_CALL = 1 << 30 };

static void *volatile block;

/* Make one call for each bit of PATH, which selects between two call sites. */
__attribute__((noinline)) static void
descend(unsigned path, int depth)
{
    if (depth == 0) {
        block = malloc(16);
        return;
    }
    if (path & 1)
        descend(path >> 1, depth - 1);
    else
        // Otherwise the compiler would merge the two calls.
        descend(path >> 1 | OTHER_CALL, depth - 1);
    __asm__ volatile("" ::: "memory");
}

int
main(int argc, char **argv)
{
    char line;

    (void)argv;
    block = malloc(1);
    if (argc > 1) {
        puts("ready");
        fflush(stdout);
        if (read(STDIN_FILENO, &line, 1) < 0)
            return 1;
    }
    for (unsigned path = 0; path < 1u << DEPTH; path++)
        descend(path, DEPTH);
    puts("done");
    return 0;
}

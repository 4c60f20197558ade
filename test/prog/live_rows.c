/* live_rows.c: allocate on request, so that a viewer can be compared with known numbers.
 *
 *     live_rows     reads commands from stdin, and answers each with "done":
 *
 *     grow N        N more blocks of 100 bytes, by grows()
 *     shrink N      free N of these
 *     hold          10 blocks of 1000 bytes, by holds(), kept for ever
 *     churn N       N blocks of 32 bytes by churns(), each freed at once
 *     abort, end    end the process */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 100000, GROWN_BYTES = 100, HELD = 10, HELD_BYTES = 1000, CHURNED_BYTES = 32 };

static char *grown[BLOCKS_MAX];
static size_t count;
static char *volatile held[HELD];

__attribute__((noinline)) static void
grows(size_t n)
{
    while (n-- > 0 && count < BLOCKS_MAX) {
        grown[count] = malloc(GROWN_BYTES);
        grown[count++][0] = 1;
    }
}

__attribute__((noinline)) static void
holds(void)
{
    for (size_t i = 0; i < HELD; i++) {
        held[i] = malloc(HELD_BYTES);
        held[i][0] = 1;
    }
}

__attribute__((noinline)) static void
churns(size_t n)
{
    while (n-- > 0) {
        char *volatile p = malloc(CHURNED_BYTES);

        p[0] = 1;
        free(p);
    }
}

int
main(void)
{
    static char line[64], out[64];

    setvbuf(stdin, line, _IOLBF, sizeof line);
    setvbuf(stdout, out, _IOLBF, sizeof out);
    for (char command[32]; scanf("%31s", command) == 1; puts("done")) {
        size_t n = 0;

        if (strcmp(command, "end") == 0)
            return 0;
        if (strcmp(command, "abort") == 0)
            abort();
        if (strcmp(command, "hold") == 0)
            holds();
        else if (scanf("%zu", &n) != 1)
            return 2;
        if (strcmp(command, "grow") == 0)
            grows(n);
        for (size_t i = 0; strcmp(command, "shrink") == 0 && i < n && count > 0; i++)
            free(grown[--count]);
        if (strcmp(command, "churn") == 0)
            churns(n);
    }
    return 0;
}

/* cflags: -O0 -g -fno-builtin */
/* deep_walk.c LOW HIGH STEPS SEED: calls and returns at random, with LOW to HIGH calls of even()
 * and odd() active. Allocates a block in bottom() at about every fourth step, each of another
 * size, and prints a line for each: the size, and the active calls as "e" and "o" from the
 * innermost out. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE_FIRST = 32, RUN_MAX = 400, DEPTH_MAX = 1 << 16 };

static char active[DEPTH_MAX + 1]; // From the outermost in.
static int depth, low, high, run, step;
static long left;
static uint64_t seed;
static size_t size = SIZE_FIRST;
static char buffer[1 << 16];

static unsigned
random_below(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

static void
bottom(void)
{
    if (malloc(size) == NULL)
        exit(1);
    printf("%zu ", size++);
    for (int i = depth; i-- > 0;)
        putchar(active[i]);
    putchar('\n');
}

static void even(void);
static void odd(void);

/* Return true if the next step is a call, false if it is a return. */
static int
calls_next(void)
{
    if (run-- <= 0) {
        run = (int)random_below(RUN_MAX);
        step = random_below(2) ? 1 : -1;
    }
    if (depth >= high || left <= 0)
        return 0;
    return depth < low || step > 0;
}

#define VISIT(letter)                                                                              \
    active[depth++] = letter;                                                                      \
    while (left-- > 0 && (random_below(4) == 0 ? bottom() : (void)0, calls_next()))                \
        (random_below(2) ? even : odd)();                                                          \
    depth--

static void
even(void)
{
    VISIT('e');
}

static void
odd(void)
{
    volatile char other_frame[96] = {0};

    VISIT('o');
    (void)other_frame;
}

int
main(int count, char **arguments)
{
    if (count < 5)
        return 2;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    low = atoi(arguments[1]);
    high = atoi(arguments[2]);
    left = atol(arguments[3]);
    seed = strtoull(arguments[4], NULL, 10);
    if (high > DEPTH_MAX)
        return 2;
    while (left > 0)
        even();
    return 0;
}

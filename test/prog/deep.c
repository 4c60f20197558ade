/* cflags: -fno-optimize-sibling-calls */
/* deep.c DEPTH...: for each DEPTH, three times, call `down` DEPTH times nested; the innermost call
 * allocates 10 bytes in `bottom`. So each argument adds 3 blocks and 30 bytes, on a stack of DEPTH
 * frames of `down` between `bottom` and main. The recorder keeps at least the innermost 1024 frames
 * of a stack: a deeper one is marked as truncated, unless it is kept whole, and counted in full. */
#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline, noclone)) static int
bottom(void)
{
    for (int i = 0; i < 3; i++)
        kept = malloc(10);
    return 1;
}

__attribute__((noinline, noclone)) static int
down(int depth)
{
    volatile int result = depth > 1 ? down(depth - 1) : bottom();

    return result + 1;
}

int
main(int argc, char **argv)
{
    int sum = 0;

    for (int i = 1; i < argc; i++)
        sum += down(atoi(argv[i]));
    return sum == 0;
}

/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -Lbuild/test/prog -lbump -Wl,-rpath,$ORIGIN */
/* ticking.c: allocate in the handler of a fast timer while the program works.
 *
 *     ticking PERIOD_US BURN_US
 *
 * Main allocates a block of 30 bytes before the first tick, then allocates and frees 400,000 blocks
 * of 100 bytes in `work`, below 0 to 19 frames. Each tick allocates 3 blocks of 20 bytes in
 * `on_tick` and then burns BURN_US microseconds. If a handler takes as long as the period, the next
 * tick is pending when it returns, and main makes no progress. At the end, the program prints
 * "ticks N". It is linked with an allocator that handlers may call. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { EACH = 3, ROUNDS = 20000, PAIRS = 20, DEPTHS = 20 };

static volatile long ticks;
static long burn_ns;
static void *volatile kept;

static long
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((noinline)) static void
on_tick(int number)
{
    long until = burn_ns > 0 ? now_ns() + burn_ns : 0;

    (void)number;
    for (int i = 0; i < EACH; i++)
        kept = malloc(20);
    ticks++;
    while (until != 0 && now_ns() < until)
        ;
}

__attribute__((noinline)) static int
work(int depth)
{
    void *volatile p;

    if (depth > 0)
        return work(depth - 1) + 1;
    for (int i = 0; i < PAIRS; i++) {
        p = malloc(100);
        free(p);
    }
    return 0;
}

int
main(int argc, char **argv)
{
    long period_us = argc > 1 ? atol(argv[1]) : 1000;
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, period_us}, {0, period_us}}, never = {{0, 0}, {0, 0}};
    char text[100];
    int length;

    burn_ns = argc > 2 ? atol(argv[2]) * 1000 : 0;
    kept = malloc(30);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < ROUNDS; i++)
        work(i % DEPTHS);
    setitimer(ITIMER_REAL, &never, NULL);
    length = snprintf(text, sizeof text, "ticks %ld\n", ticks);
    return write(1, text, (size_t)length) != length;
}

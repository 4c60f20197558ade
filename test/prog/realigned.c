/* cflags: -fno-optimize-sibling-calls */
/* realigned.c: call a function that realigns its stack from frames of varying size. Rounding puts
 * the function's frame at the same address for different callers, so only the word that saves its
 * CFA locates the caller's frame.
 *
 * 7000 blocks of 10 bytes are allocated and freed, in even rounds under left, in odd ones under
 * right. */
#include <alloca.h>
#include <stdlib.h>

__attribute__((noinline)) static void *
leaf(void)
{
    void *volatile p = malloc(10);

    return p;
}

__attribute__((noinline)) static void *
realigned(void)
{
    _Alignas(64) char some[64];
    char *more = alloca(16);
    void *volatile p;

    __asm__ volatile("" : : "r"(some), "r"(more));
    p = leaf();
    return p;
}

__attribute__((noinline)) static void *
left(size_t round)
{
    volatile char *some = alloca(16 * (round % 7) + 16);
    void *volatile p = realigned();

    some[0] = 1;
    return p;
}

__attribute__((noinline)) static void *
right(size_t round)
{
    volatile char *some = alloca(16 * (round % 5) + 48);
    void *volatile p = realigned();

    some[0] = 1;
    return p;
}

int
main(void)
{
    for (size_t round = 0; round < 7000; round++)
        free(round % 2 == 0 ? left(round) : right(round));
    return 0;
}

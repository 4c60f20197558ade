/* cflags: -O1 -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* filling.c: more stacks than a profile has room for, with totals that are known by the function
 * that allocates.
 *
 *     filling COUNT THREADS [crash]
 *
 * Each of THREADS threads (0: the first one alone) allocates COUNT blocks in turn from leaf_small,
 * leaf_middle and leaf_large, of 24, 100 and 3000 bytes, each from a new stack, 20 calls deep;
 * every second block is freed at once by the same thread. In between, all use the same few stacks
 * of leaf_known, whose blocks of 10 bytes stay. With "crash" SIGSEGV ends it. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { DEPTH = 20, THREADS_MAX = 16, OTHER_CALL = 1 << 30 };

static unsigned count;

__attribute__((noinline)) static void *
leaf_small(void)
{
    void *p = malloc(24);

    __asm__ volatile("" ::: "memory");
    return p;
}

__attribute__((noinline)) static void *
leaf_middle(void)
{
    void *p = malloc(100);

    __asm__ volatile("" ::: "memory");
    return p;
}

__attribute__((noinline)) static void *
leaf_large(void)
{
    void *p = malloc(3000);

    __asm__ volatile("" ::: "memory");
    return p;
}

__attribute__((noinline)) static void *
leaf_known(void)
{
    void *p = malloc(10);

    __asm__ volatile("" ::: "memory");
    return p;
}

/* One call for each bit of PATH, from either of two places. */
__attribute__((noinline)) static void *
descend(unsigned path, int depth, unsigned leaf)
{
    void *p;

    if (depth == 0)
        return leaf == 0 ? leaf_small() : leaf == 1 ? leaf_middle() : leaf_large();
    if (path & 1)
        p = descend(path >> 1, depth - 1, leaf);
    else
        p = descend(path >> 1 | OTHER_CALL, depth - 1, leaf); // Otherwise the calls are merged.
    __asm__ volatile("" ::: "memory");
    return p;
}

static void *
work(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < count; i++) {
        void *p = descend(i * 2654435761u >> 12, DEPTH, i % 3);

        if (i / 3 % 2 != 0)
            free(p);
        leaf_known();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    int number = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t threads[THREADS_MAX];

    count = argc > 1 ? (unsigned)atol(argv[1]) : 6000;
    if (number == 0)
        work(NULL);
    for (int i = 0; i < number; i++)
        if (i < THREADS_MAX && pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < number && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    if (argc > 3)
        raise(SIGSEGV);
    return 0;
}

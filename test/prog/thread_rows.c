/* cflags: -fno-builtin -O1 */
/* libs: -lpthread */
/* thread_rows.c THREADS BLOCKS: run threads one after the other, each beside main.
 *
 * Each of THREADS threads allocates BLOCKS blocks of 40 bytes in `of_thread`; at the same time main
 * allocates as many of 24 in `of_main`, 100 calls deep. Every second one is freed at once. */
#include <pthread.h>
#include <stdlib.h>

enum { DEPTH = 100, MAIN_BYTES = 24, THREAD_BYTES = 40 };

static long blocks;

__attribute__((noinline)) static void
of_main(long count)
{
    for (long i = 0; i < count; i++) {
        void *p = malloc(MAIN_BYTES);

        if (i % 2)
            free(p);
    }
}

__attribute__((noinline)) static void
of_thread(long count)
{
    for (long i = 0; i < count; i++) {
        void *p = malloc(THREAD_BYTES);

        if (i % 2)
            free(p);
    }
}

__attribute__((noinline)) static int
descend(int depth)
{
    if (depth == 0)
        of_main(blocks);
    else
        descend(depth - 1);
    __asm__ volatile("" ::: "memory"); // Prevents tail calls.
    return depth;
}

static void *
work(void *unused)
{
    of_thread(blocks);
    return unused;
}

int
main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t thread;

    blocks = argc > 2 ? atol(argv[2]) : 1000;
    for (int i = 0; i < count; i++) {
        if (pthread_create(&thread, NULL, work, NULL) != 0)
            return 1;
        descend(DEPTH);
        pthread_join(thread, NULL);
    }
    return 0;
}

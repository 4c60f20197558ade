/* cflags: -O1 -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* growing.c: make several tables of the profile grow at once.
 *
 *   growing THREADS EVENTS
 *
 * Each thread allocates and frees EVENTS blocks at distinct stacks, 14 frames deep. Prints "done"
 * and exits with 7. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 14, THREADS_MAX = 64 };

static pthread_barrier_t barrier;
static int events;

static void *descend(unsigned path, int depth);

__attribute__((noinline)) static void *
left(unsigned path, int depth)
{
    void *p = descend(path >> 1, depth - 1);

    __asm__ volatile("");
    return p;
}

__attribute__((noinline)) static void *
right(unsigned path, int depth)
{
    void *p = descend(path >> 1, depth - 1);

    __asm__ volatile("" : : "r"(p));
    return p;
}

__attribute__((noinline)) static void *
descend(unsigned path, int depth)
{
    void *p;

    if (depth == 0)
        return malloc(16 + path % 3000);
    p = path & 1 ? left(path, depth) : right(path, depth);
    __asm__ volatile("" : : "r"(p));
    return p;
}

static void *
work(void *seed)
{
    unsigned random = *(unsigned *)seed * 7919 + 1;

    pthread_barrier_wait(&barrier);
    for (int i = 0; i < events; i++) {
        random = random * 1664525 + 1013904223;
        free(descend(random >> 8, DEPTH));
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t threads[THREADS_MAX];
    unsigned seeds[THREADS_MAX];

    events = argc > 2 ? atoi(argv[2]) : 3000;
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        seeds[i] = (unsigned)i;
        pthread_create(&threads[i], NULL, work, &seeds[i]);
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 7;
}

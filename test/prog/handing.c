/* libs: -lpthread */
/* cflags: -fno-builtin */
/* handing.c: pass blocks between threads that run one after another, so that the allocated and the
 * live blocks of each are known.
 *
 *     thread     allocates             live at end            frees of other threads'
 *     maker      1000 of 1000 bytes    100, 100000 bytes
 *     taker        20 of   50 bytes     20,   1000 bytes      900 of maker's, 900000 bytes
 *     left        600 of  100 bytes    250,  25000 bytes
 *     right       400 of  100 bytes     50,   5000 bytes
 *     sweeper                                                 350 each of left's and right's
 *     worker       50 of   64 bytes     10,    640 bytes      none: 40 that it allocated
 *
 * left and right allocate at one stack, so the recorder knows only the sum of their live blocks,
 * 300. In proportion, 180 would be left's and 120 right's. At the peak, maker's blocks and the C
 * library's allocations for main are live. */
#include <pthread.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone))

static void *made[1000], *lefts[600], *rights[400], *kept[20], *work[50];

APART static void
make(void)
{
    for (int i = 0; i < 1000; i++)
        made[i] = malloc(1000);
}

APART static void
take(void)
{
    for (int i = 0; i < 900; i++)
        free(made[i]);
    for (int i = 0; i < 20; i++)
        kept[i] = malloc(50);
}

APART static void
fill(void **blocks, int count)
{
    for (int i = 0; i < count; i++)
        blocks[i] = malloc(100);
}

APART static void
sweep(void)
{
    for (int i = 0; i < 350; i++) {
        free(lefts[i]);
        free(rights[i]);
    }
}

APART static void
labour(void)
{
    for (int i = 0; i < 50; i++)
        work[i] = malloc(64);
    for (int i = 0; i < 40; i++)
        free(work[i]);
}

static void *
maker(void *arg)
{
    pthread_setname_np(pthread_self(), "maker");
    make();
    return arg;
}

static void *
taker(void *arg)
{
    pthread_setname_np(pthread_self(), "taker");
    take();
    return arg;
}

static void *
side(void *arg)
{
    // Volatile, so that there is one call below, not two.
    void **volatile blocks = arg != NULL ? lefts : rights;

    pthread_setname_np(pthread_self(), arg != NULL ? "left" : "right");
    fill(blocks, arg != NULL ? 600 : 400);
    return arg;
}

static void *
sweeper(void *arg)
{
    pthread_setname_np(pthread_self(), "sweeper");
    sweep();
    return arg;
}

static void *
worker(void *arg)
{
    pthread_setname_np(pthread_self(), "worker");
    labour();
    return arg;
}

int
main(void)
{
    void *(*const threads[])(void *) = {maker, taker, side, side, sweeper, worker};
    pthread_t thread;

    for (int i = 0; i < 6; i++) {
        pthread_create(&thread, NULL, threads[i], i == 2 ? &thread : NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}

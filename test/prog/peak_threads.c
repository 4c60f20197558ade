/* cflags: -fno-builtin */
/* libs: -lpthread */
/* peak_threads.c: threads that take turns, so that the peak of live bytes is known to the byte.
 *
 *     peak_threads alone  THREADS BYTES
 *     peak_threads waves  THREADS BYTES
 *     peak_threads random THREADS BYTES SEED OPERATIONS
 *     peak_threads early  THREADS BYTES
 *     peak_threads crowd  THREADS BYTES
 *
 * Except in crowd, one thread at a time allocates and frees, including other threads' blocks, and
 * passes the turn to the next thread by a semaphore. The first peak is 100 blocks of BYTES.
 *
 *     alone   one thread reaches the peak before another one has allocated, and frees nearly all
 *             blocks; then all threads together reach 94 % of the peak
 *     waves   all threads together reach the peak and free nearly all blocks; then they reach 94 %
 *             of it, half, one block more than the peak, and half again
 *     random  all threads replace blocks at random, of a tenth to twice the size, few of ten times
 *             the size; the number of blocks rises and falls
 *     early   300 threads, one after another, leave a tenth of the size each, which others free;
 *             then all threads reach the peak
 *     crowd   like waves, but all threads run at once and wait for one another after each wave; at
 *             half the peak, each replaces a few of its blocks many times
 *
 * Prints "peak_bytes P" without a stream. Only pthread_create also allocates, once for each thread;
 * all threads except those of early exist from the beginning. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREADS_MAX = 64,
    BLOCKS_MAX = 4096,
    PART = 100,
    EARLY = 300,
    EARLY_BLOCKS = 10,
    CHURNS = 5000,
};

static __thread int me; // The thread's index.
static sem_t turns[THREADS_MAX];
static pthread_t threads[THREADS_MAX];
static void (*job)(void);
static sem_t done;

static struct {
    void *p;
    size_t size_bytes;
} blocks[BLOCKS_MAX];
static int block_count;
static long long live, peak;
static size_t unit_bytes;
static uint64_t seed;

static uint32_t
draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

__attribute__((noinline)) static void
hold(size_t size_bytes)
{
    void *p = malloc(size_bytes);

    if (p == NULL || block_count == BLOCKS_MAX)
        _exit(1);
    blocks[block_count].p = p;
    blocks[block_count++].size_bytes = size_bytes;
    live += (long long)size_bytes;
    if (live > peak)
        peak = live;
}

__attribute__((noinline)) static void
drop(int i)
{
    free(blocks[i].p);
    live -= (long long)blocks[i].size_bytes;
    blocks[i] = blocks[--block_count];
}

static void *
work(void *arg)
{
    sem_t *turn = arg;

    me = (int)(turn - turns);
    for (;;) {
        sem_wait(turn);
        if (job == NULL)
            return NULL;
        job();
        sem_post(&done);
    }
}

/* Let thread I run JOB. */
static void
let(int i, void (*what)(void))
{
    job = what;
    sem_post(&turns[i]);
    sem_wait(&done);
}

/* Let all threads run JOB at once. */
static void
let_all(int thread_count, void (*what)(void))
{
    job = what;
    for (int i = 0; i < thread_count; i++)
        sem_post(&turns[i]);
    for (int i = 0; i < thread_count; i++)
        sem_wait(&done);
}

static int goal; // Number of blocks: in total or, in a crowd, for each thread.

static void
build_up(void)
{
    for (int i = 0; i < 7 && block_count < goal; i++)
        hold(unit_bytes);
}

static void
break_down(void)
{
    for (int i = 0; i < 7 && block_count > goal; i++)
        drop(block_count / 2);
}

/* Let all threads allocate or free in turn until there are GOAL_BLOCKS blocks. */
static void
go_to(int thread_count, int goal_blocks)
{
    goal = goal_blocks;
    for (int i = 0; block_count != goal; i = (i + 1) % thread_count)
        let(i, block_count < goal ? build_up : break_down);
}

static void
replace(void)
{
    int tide = PART / 2 + (int)draw(3) * 3;

    for (uint32_t i = 1 + draw(20); i > 0; i--) {
        if (block_count > 0 && (int)draw(PART) < block_count - tide + PART / 2)
            drop((int)draw((uint32_t)block_count));
        else
            hold(unit_bytes * (1 + draw(draw(16) ? 20 : 100)) / 10 + draw(8));
    }
}

static void *
begin_early(void *arg)
{
    (void)arg;
    for (int i = 0; i < EARLY_BLOCKS; i++)
        hold(unit_bytes / 10 / EARLY_BLOCKS);
    return NULL;
}

/* Run threads one after another; each leaves blocks that others free. */
static void
early(void)
{
    pthread_t thread;

    for (int i = 0; i < EARLY; i++) {
        char name[16];

        // Threads of the same name share a row, so each gets a different name.
        snprintf(name, sizeof name, "early %d", i);
        pthread_setname_np(pthread_self(), name);
        if (pthread_create(&thread, NULL, begin_early, NULL) != 0)
            _exit(1);
        pthread_join(thread, NULL);
        while (block_count > 0)
            drop(0);
    }
}

/* Blocks of each thread in a crowd, which frees only its own. */
static void *own[THREADS_MAX][PART + 1];
static int own_count[THREADS_MAX];

__attribute__((noinline)) static void *
hold_own(void)
{
    void *p = malloc(unit_bytes);

    if (p == NULL)
        _exit(1);
    return p;
}

static void
own_goal(void)
{
    while (own_count[me] > goal)
        free(own[me][--own_count[me]]);
    while (own_count[me] < goal)
        own[me][own_count[me]++] = hold_own();
}

/* The number of blocks never exceeds that at the beginning. */
static void
own_churn(void)
{
    for (int i = 0; i < CHURNS; i++) {
        int some = i % 3 < own_count[me] ? i % 3 : own_count[me];

        for (int k = 1; k <= some; k++)
            free(own[me][own_count[me] - k]);
        for (int k = 1; k <= some; k++)
            own[me][own_count[me] - k] = hold_own();
    }
}

static void
crowd(int thread_count)
{
    int part = PART / thread_count;
    int goals[] = {part, part / 10, part * 94 / 100, part / 2, part / 2, part + 1, 0};

    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        goal = goals[i];
        let_all(thread_count, own_goal);
        if (goal == part / 2)
            let_all(thread_count, own_churn);
    }
    peak = (long long)(part + 1) * thread_count * (long long)unit_bytes;
}

static void
play(const char *name, int thread_count, long operations)
{
    if (strcmp(name, "alone") == 0) {
        while (block_count < PART)
            hold(unit_bytes);
        while (block_count > PART / 100)
            drop(0);
        go_to(thread_count, PART * 94 / 100);
    } else if (strcmp(name, "waves") == 0) {
        go_to(thread_count, PART);
        go_to(thread_count, PART / 100);
        go_to(thread_count, PART * 94 / 100);
        go_to(thread_count, PART / 2);
        go_to(thread_count, PART + 1);
        go_to(thread_count, PART / 2);
    } else if (strcmp(name, "crowd") == 0) {
        crowd(thread_count);
    } else if (strcmp(name, "random") == 0) {
        for (long i = 0; i < operations; i += 10)
            let((int)draw((uint32_t)thread_count), replace);
    } else {
        early();
        go_to(thread_count, PART);
        go_to(thread_count, PART / 100);
    }
}

int
main(int argc, char **argv)
{
    int thread_count = argc > 3 ? atoi(argv[2]) : 2;
    char text[64];
    int length;

    unit_bytes = argc > 3 ? (size_t)atol(argv[3]) : 1;
    seed = argc > 4 ? (uint64_t)atol(argv[4]) : 1;
    sem_init(&done, 0, 0);
    for (int i = 0; i < thread_count; i++)
        sem_init(&turns[i], 0, 0);
    // The recorder does not know these threads until they allocate.
    for (int i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, work, &turns[i]) != 0)
            return 1;
    play(argc > 1 ? argv[1] : "waves", thread_count, argc > 5 ? atol(argv[5]) : 20000);
    job = NULL;
    for (int i = 0; i < thread_count; i++)
        sem_post(&turns[i]);
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    length = snprintf(text, sizeof text, "peak_bytes %lld\n", peak);
    return write(1, text, (size_t)length) != length;
}

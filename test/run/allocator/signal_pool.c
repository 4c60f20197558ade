/* signal_pool.c: with -DPOOL, an allocator that signal handlers may call. Without, a program with
 * two threads that call this allocator. A timer's handler, which interrupts the second thread at
 * any instruction, calls it as well. Prints the numbers of allocations and frees. */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

void *pool_get(size_t size_bytes);
void pool_put(void *p);

#ifdef POOL

enum { POOL_BYTES = 1 << 28, STEP_BYTES = 64 };

static char pool[POOL_BYTES] __attribute__((aligned(64)));
static atomic_ulong used;

void *
pool_get(size_t size_bytes)
{
    (void)size_bytes;
    return pool + (atomic_fetch_add(&used, STEP_BYTES) & (POOL_BYTES - 1));
}

void
pool_put(void *p)
{
    *(volatile char *)p = 0;
}

#else

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { PERIOD_NS = 200000, CALLS = 200000, DEPTHS = 23 };

static atomic_ulong allocations, frees;

static void
on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&allocations, 1);
    atomic_fetch_add(&frees, 1);
    pool_put(pool_get(10));
}

__attribute__((noinline)) static void
allocate(int depth, int i)
{
    if (depth > 0) {
        allocate(depth - 1, i);
    } else {
        void *p = pool_get(1 + (size_t)i % 40);

        atomic_fetch_add(&allocations, 1);
        if (i % 4 != 0) {
            pool_put(p);
            atomic_fetch_add(&frees, 1);
        }
    }
    __asm__ volatile("" ::: "memory"); // Prevents a tail call.
}

static void *
work(void *unused)
{
    for (int i = 0; i < CALLS; i++)
        allocate(i % DEPTHS, i);
    return unused;
}

int
main(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    pthread_t thread;
    sigset_t all;
    timer_t timer;

    sigfillset(&all);
    sigaction(SIGUSR1, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &period, NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_sigmask(SIG_BLOCK, &all, NULL); // The handler thereby runs in the other thread.
    work(NULL);
    pthread_join(thread, NULL);
    printf("%lu %lu\n", allocations, frees);
    return 0;
}

#endif

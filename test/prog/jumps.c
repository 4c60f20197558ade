/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -Lbuild/test/prog -lbump -Wl,-rpath,$ORIGIN -lpthread -lrt */
/* jumps.c: three threads with a timer whose handler allocates and leaves by siglongjmp. It
 * interrupts any code: the recorder, the allocator, or code where events of an earlier jump are
 * still nested. The program is linked with an allocator that may be interrupted.
 *
 *     handle   one block of 48 bytes a jump, freed
 *
 * Prints "jumps N". A jump may abandon an allocation of `descend`, at a random depth, before it
 * returns. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

enum { THREADS = 3, JUMPS = 1000, PERIOD_NS = 150000, EVENTS = 300 };

static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t armed;
static __thread volatile long jumps;

OWN static void
handle(int number)
{
    void *volatile p;

    (void)number;
    if (!armed)
        return;
    armed = 0;
    p = malloc(48);
    free(p);
    jumps++;
    siglongjmp(back, 1);
}

OWN static void *
descend(unsigned depth)
{
    void *volatile p = depth == 0 ? malloc(100) : descend(depth - 1);

    return p;
}

static timer_t
start_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    struct itimerspec when = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    timer_t timer;

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &when, NULL) != 0)
        _exit(99);
    return timer;
}

static void *
work(void *sum)
{
    volatile unsigned random = 1;
    timer_t timer = start_timer();

    while (jumps < JUMPS) {
        if (sigsetjmp(back, 1) != 0)
            continue;
        armed = 1;
        for (int i = 0; i < EVENTS; i++) {
            random = random * 1664525 + 1013904223;
            free(realloc(descend(random >> 28), 5000));
        }
        armed = 0;
    }
    timer_delete(timer);
    __atomic_fetch_add((long *)sum, jumps, __ATOMIC_RELAXED);
    return NULL;
}

int
main(void)
{
    struct sigaction action = {.sa_handler = handle};
    pthread_t thread[THREADS];
    long sum = 0;

    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, &sum);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("jumps %ld\n", sum);
    return 0;
}

/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -Lbuild/test/prog -lbump -Wl,-rpath,$ORIGIN -lpthread */
/* threadends.c: end threads in every way. Blocks have 10 bytes. The program is linked with an
 * allocator that an asynchronous cancellation may interrupt.
 *
 *     cancel    50 threads in a loop of malloc and free are cancelled at any instruction; then
 *               50 blocks in `afterwards`, 50 in `at_end` (destructors)
 *     deferred  50 threads are cancelled at a cancellation point: 50 blocks in `clean_up`
 *     leave     main allocates in a thread destructor (`at_end`, 1), leaves by
 *               pthread_exit, and then comes an exit handler: 100 blocks in `last`
 *     clone     a child that shares memory and thread-local storage allocates while its parent
 *               waits: 100 blocks in `in_clone`, and 100 in `afterwards`
 *     timers    4 threads in a loop of malloc and free (`grow`), each hit by a timer every 50 us
 *               whose handler keeps 2 blocks (20 bytes) and frees 1 in 3
 *
 * Prints how many calls were made: "loop N handler M". */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 50, TIMES = 100, TIMERS = 4, SIGNALS = 2000, PERIOD_NS = 200000 };

static void *volatile kept;
static _Atomic long in_loop, in_handler;
static __thread volatile long signals;
static pthread_key_t key;

__attribute__((noinline)) static void
at_end(void *value)
{
    kept = malloc(10);
    (void)value;
}

__attribute__((noinline)) static void
afterwards(void)
{
    kept = malloc(11);
}

__attribute__((noinline)) static void *
endless(void *arg)
{
    pthread_setspecific(key, &key);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        free(malloc(10));
    return arg;
}

static void
cancel(void)
{
    pthread_t other;

    pthread_key_create(&key, at_end);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&other, NULL, endless, NULL);
        usleep((useconds_t)(1000 + i * 37));
        pthread_cancel(other);
        pthread_join(other, NULL);
        afterwards();
    }
}

__attribute__((noinline)) static void
clean_up(void *arg)
{
    kept = malloc(12);
    (void)arg;
}

static void *
until_asked(void *arg)
{
    pthread_cleanup_push(clean_up, NULL);
    for (;;) {
        free(malloc(10));
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return arg;
}

static void
deferred(void)
{
    pthread_t other;

    for (int i = 0; i < THREADS; i++) {
        pthread_create(&other, NULL, until_asked, NULL);
        usleep(500);
        pthread_cancel(other);
        pthread_join(other, NULL);
    }
}

__attribute__((noinline)) static void
last(void)
{
    for (int i = 0; i < TIMES; i++)
        kept = malloc(10);
}

static pthread_t main_thread;

static void *
outlive(void *arg)
{
    pthread_join(main_thread, NULL);
    exit(0);
    return arg;
}

static void
leave(void)
{
    pthread_t other;

    main_thread = pthread_self();
    pthread_key_create(&key, at_end);
    pthread_setspecific(key, &key);
    atexit(last);
    pthread_create(&other, NULL, outlive, NULL);
    pthread_exit(NULL);
}

__attribute__((noinline)) static int
in_clone(void *arg)
{
    for (int i = 0; i < TIMES; i++)
        kept = malloc(10);
    (void)arg;
    return 0;
}

static void
share(void)
{
    char *stack = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status;

    afterwards();
    waitpid(clone(in_clone, stack + (1 << 16), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL), &status, 0);
    for (int i = 1; i < TIMES; i++)
        afterwards();
    if (status != 0)
        _exit(4);
}

__attribute__((noinline)) static void
on_timer(int number)
{
    void *p = malloc(20);

    kept = malloc(20);
    kept = malloc(20);
    free(p);
    signals++;
    in_handler++;
    (void)number;
}

__attribute__((noinline)) static void
grow(int depth)
{
    void *volatile p = malloc(30);

    free(p);
    if (depth > 0)
        grow(depth - 1);
}

__attribute__((noinline)) static void *
timed(void *arg)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    struct itimerspec every = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    timer_t timer;
    long count = 0;

    event._sigev_un._tid = (int)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        _exit(5);
    timer_settime(timer, 0, &every, NULL);
    while (signals < SIGNALS) {
        grow((int)(count % 50));
        count++;
    }
    timer_delete(timer);
    for (long i = 0; i < count; i++)
        in_loop += i % 50 + 1;
    return arg;
}

static void
timers(void)
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    pthread_t all[TIMERS];

    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < TIMERS; i++)
        pthread_create(&all[i], NULL, timed, NULL);
    for (int i = 0; i < TIMERS; i++)
        pthread_join(all[i], NULL);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } table[] = {{"cancel", cancel},
                 {"deferred", deferred},
                 {"leave", leave},
                 {"clone", share},
                 {"timers", timers}};
    char text[100];
    int length;

    for (size_t i = 0; argc == 2 && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0)
            table[i].run();
    length = snprintf(text, sizeof text, "loop %ld handler %ld\n", in_loop, in_handler);
    return write(1, text, (size_t)length) != length;
}

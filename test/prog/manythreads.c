/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* manythreads.c: run many threads, one after the other or at once.
 *
 *     manythreads THREADS ALIVE STACK_KIB
 *
 * There are THREADS threads, up to ALIVE at once. Each allocates 3 blocks of 10 bytes in `work`,
 * frees one, leaves one to a later thread, which frees it, and keeps one. So `work` has 3 * THREADS
 * allocations, and main frees the remaining blocks: THREADS frees in `work`, THREADS in
 * `hand_over`. A destructor of thread-specific data allocates and frees 5 bytes: `at_thread_end`
 * has THREADS of each. When ALIVE threads wait, the program prints the resident memory and the time
 * to start them on stderr. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_key_t key;
static _Atomic(void *) handed;
static void *volatile kept;
static pthread_barrier_t all_there, go_on;

__attribute__((noinline)) static void
at_thread_end(void *value)
{
    void *volatile p = malloc(5);

    free(p);
    (void)value;
}

__attribute__((noinline)) static void
hand_over(void *p)
{
    free(atomic_exchange(&handed, p));
}

__attribute__((noinline)) static void
work(void)
{
    void *volatile p = malloc(10);

    free(p);
    p = malloc(10);
    kept = malloc(10);
    hand_over(p);
}

static void *
run(void *arg)
{
    pthread_setspecific(key, &key);
    work();
    if (arg != NULL) {
        pthread_barrier_wait(&all_there);
        pthread_barrier_wait(&go_on);
    }
    return NULL;
}

static void
show_memory(double seconds)
{
    char line[200];
    FILE *f = fopen("/proc/self/status", "r");

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "VmRSS", 5) == 0 || strncmp(line, "VmSize", 6) == 0)
            fprintf(stderr, "%s", line);
    if (f != NULL)
        fclose(f);
    fprintf(stderr, "start %.3f s\n", seconds);
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
    long count = argc == 4 ? atol(argv[1]) : 0, alive = count ? atol(argv[2]) : 0;
    pthread_t *threads = malloc((size_t)(alive + 1) * sizeof *threads);
    pthread_attr_t attributes;

    if (count == 0 || count % alive != 0)
        return 2;
    pthread_key_create(&key, at_thread_end);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)atol(argv[3]) << 10);
    pthread_barrier_init(&all_there, NULL, (unsigned)alive + 1);
    pthread_barrier_init(&go_on, NULL, (unsigned)alive + 1);
    for (long done = 0; done < count; done += alive) {
        double began = now();

        for (long i = 0; i < alive; i++)
            if (pthread_create(&threads[i], &attributes, run, alive > 1 ? &key : NULL) != 0)
                return 3;
        if (alive > 1) {
            pthread_barrier_wait(&all_there);
            if (done == 0)
                show_memory(now() - began);
            pthread_barrier_wait(&go_on);
        }
        for (long i = 0; i < alive; i++)
            pthread_join(threads[i], NULL);
    }
    hand_over(NULL);
    puts("done");
    return 0;
}

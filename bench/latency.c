/* latency.c: measure the latency of single calls of malloc, especially of the slowest.
 *
 *     latency CALLS [THREADS]
 *
 * Every call is timed with the processor's time stamp counter and counted in buckets of one
 * sixteenth of a power of two. The counter's rate is determined by the clock over the whole run.
 * The output is p50_ns, p99_ns, p999_ns, p9999_ns (upper ends of buckets), max_ns, and min_ns,
 * which is the cost of the timing itself. The program should be pinned to one processor.
 *
 * In any program, the processor is interrupted some hundred times a second, in a virtual machine
 * for 20 to 80 microseconds. Among a million calls of half a microsecond, about a hundred are
 * interrupted. Therefore p9999_ns depends on the total duration of all calls and the load of the
 * machine, rather than on the slowest calls. To correct this, a thread spins after each call for as
 * long as the call took, and counts the interruptions of that time in buckets as well. own999_ns
 * and own9999_ns are the quantiles after as many interrupted calls have been subtracted.
 *
 * The program's heap grows and shrinks, it calls from 50 places below 1 to 24 frames, and new
 * stacks occur from time to time. Therefore it includes the rare cases of a recorder: new stacks,
 * new pages, a growing file. Frees are not timed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include "descent.h"

enum { LIVE = 200000, BUCKETS_PER_POWER = 16, BUCKETS = 64 * BUCKETS_PER_POWER, THREADS_MAX = 64 };
enum { AWAY_CYCLES = 5000 }; // Minimum duration of an interruption; no call takes as long.

/* Measurements and state of a thread. */
struct timing {
    uint64_t buckets[BUCKETS];
    uint64_t away[BUCKETS]; // Interruptions while it spun.
    uint64_t largest, smallest;
    uint64_t random_state; // State of the random sequence.
    uint64_t random;       // Its latest number.
    uint64_t calls;
    unsigned live_count;
    void **blocks;
};

static struct timing timings[THREADS_MAX];

static unsigned
bucket_of(uint64_t cycles)
{
    unsigned power;

    if (cycles < BUCKETS_PER_POWER)
        return (unsigned)cycles;
    power = 63 - (unsigned)__builtin_clzll(cycles);
    return (power - 3) * BUCKETS_PER_POWER + (unsigned)((cycles >> (power - 4)) & 15);
}

/* Return the smallest number of cycles above bucket I. */
static uint64_t
end_of(unsigned i)
{
    unsigned power = i / BUCKETS_PER_POWER + 3;

    if (i < BUCKETS_PER_POWER)
        return i + 1;
    return (uint64_t)(BUCKETS_PER_POWER + i % BUCKETS_PER_POWER + 1) << (power - 4);
}

/* Spin for the duration of a call, which TOOK this long and may itself have been interrupted. */
static void
time_nothing(struct timing *t, uint64_t took)
{
    uint64_t last = __rdtsc(), here = 0, now;

    took = took < AWAY_CYCLES ? took : AWAY_CYCLES;
    while (here < took) {
        now = __rdtsc();
        if (now - last < AWAY_CYCLES)
            here += now - last;
        else
            t->away[bucket_of(now - last)]++;
        last = now;
    }
}

static int
timed_malloc(void *context)
{
    struct timing *t = context;
    uint64_t r = t->random, began, took;
    unsigned site = (unsigned)(r % SITE_COUNT), processor;
    size_t bytes = 16 + ((r >> 8) & 0x3ff);
    void **slot = &t->blocks[(r >> 32) % t->live_count];

    free(*slot);
    _mm_lfence();
    began = __rdtsc();
    *slot = descent_malloc(site, bytes);
    took = __rdtscp(&processor) - began;
    _mm_lfence();
    if (!*slot)
        abort();
    t->buckets[bucket_of(took)]++;
    time_nothing(t, took);
    t->largest = took > t->largest ? took : t->largest;
    t->smallest = took < t->smallest ? took : t->smallest;
    return (int)site;
}

static double
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *
measure(void *context)
{
    struct timing *t = context;

    for (uint64_t i = 0; i < t->calls; i++) {
        uint64_t r = t->random = descent_random(&t->random_state);
        // New paths come one by one, every 5,000 calls, so that new stacks are rare.
        uint32_t path = (uint32_t)(r % (1 + i / 5000)) * 0x9e3779b9u;

        descent(1 + path % 24, path, timed_malloc, t);
    }
    return NULL;
}

/* Run all threads. The first one is this thread if it is the only one. */
static void
measure_all(uint64_t calls, unsigned thread_count)
{
    pthread_t threads[THREADS_MAX];

    for (unsigned i = 0; i < thread_count; i++) {
        struct timing *t = &timings[i];

        t->calls = calls / thread_count;
        t->random_state = 7 + i;
        t->smallest = UINT64_MAX;
        t->live_count = LIVE / thread_count;
        t->blocks = calloc(t->live_count, sizeof *t->blocks);
        if (!t->blocks || (thread_count > 1 && pthread_create(&threads[i], NULL, measure, t)))
            abort();
    }
    if (thread_count == 1)
        measure(&timings[0]);
    for (unsigned i = 0; i < thread_count && thread_count > 1; i++)
        pthread_join(threads[i], NULL);
}

/* Add the threads' measurements to the first thread's. */
static void
add_up(unsigned thread_count)
{
    struct timing *sum = &timings[0];

    for (unsigned i = 1; i < thread_count; i++) {
        const struct timing *t = &timings[i];

        for (unsigned b = 0; b < BUCKETS; b++) {
            sum->buckets[b] += t->buckets[b];
            sum->away[b] += t->away[b];
        }
        sum->calls += t->calls;
        sum->largest = t->largest > sum->largest ? t->largest : sum->largest;
        sum->smallest = t->smallest < sum->smallest ? t->smallest : sum->smallest;
    }
}

static void
print_quantile(const char *name, double share, double ns_per_cycle)
{
    uint64_t below = 0, wanted = (uint64_t)(share * (double)timings[0].calls);
    unsigned i = 0;

    while (i < BUCKETS - 1 && (below += timings[0].buckets[i]) <= wanted)
        i++;
    printf("%s %.1f\n", name, (double)end_of(i) * ns_per_cycle);
}

/* Print the quantile after subtracting as many calls as were interrupted, slowest first. */
static void
print_own_quantile(const char *name, double share, double ns_per_cycle)
{
    int64_t above = 0, wanted = (int64_t)((1 - share) * (double)timings[0].calls);
    unsigned i = BUCKETS - 1;

    while (i > 0 && (above += (int64_t)(timings[0].buckets[i] - timings[0].away[i])) <= wanted)
        i--;
    printf("%s %.1f\n", name, (double)end_of(i) * ns_per_cycle);
}

int
main(int argc, char **argv)
{
    uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, cycles;
    unsigned thread_count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    double began = now_ns(), ns_per_cycle;

    if (thread_count < 1 || thread_count > THREADS_MAX || calls < thread_count) {
        fprintf(stderr, "usage: latency CALLS [THREADS]\n");
        return 2;
    }
    cycles = __rdtsc();
    measure_all(calls, thread_count);
    ns_per_cycle = (now_ns() - began) / (double)(__rdtsc() - cycles);
    add_up(thread_count);
    print_quantile("p50_ns", 0.5, ns_per_cycle);
    print_quantile("p99_ns", 0.99, ns_per_cycle);
    print_quantile("p999_ns", 0.999, ns_per_cycle);
    print_quantile("p9999_ns", 0.9999, ns_per_cycle);
    print_own_quantile("own999_ns", 0.999, ns_per_cycle);
    print_own_quantile("own9999_ns", 0.9999, ns_per_cycle);
    printf("max_ns %.1f\nmin_ns %.1f\n", (double)timings[0].largest * ns_per_cycle,
           (double)timings[0].smallest * ns_per_cycle);
    return 0;
}

/* cflags: -O1 -fno-inline -fno-builtin -Wno-unused-result */
/* libs: -lpthread */
/* own_heaps.c: make events of heaptap heaps, with sums known by construction.
 *
 *     own_heaps CASE
 *
 * api.sh checks the profile of each case. A case has only those blocks of malloc that its comment
 * mentions: the program prints nothing, so stdio allocates nothing. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "heaptap/heaptap.h"
#include "heaptap/language.h"

enum { MILLION = 1000000, LARGE_BYTES = 100 << 20 };

static char *const base = (char *)0x10000;
static void *volatile kept;

/* --- One thread ------------------------------------------------------------------------------ */

/* Allocate 3 blocks of 100; free one, resize one to 300, overwrite one by 50; free an unknown
 * pointer. */
static void
run_events(void)
{
    heaptap_heap *heap = heaptap_heap_create("events", 0);

    heaptap_alloc(heap, base, 1, 100);
    heaptap_alloc(heap, base + 100, 1, 100);
    heaptap_alloc(heap, base + 200, 1, 100);
    heaptap_free(heap, base);
    heaptap_resize(heap, base + 100, base + 1000, 300);
    heaptap_alloc(heap, base + 200, 1, 50);
    heaptap_free(heap, base + 5);
    heaptap_alloc(heap, NULL, 10, 1000);
    heaptap_free(heap, NULL);
    heaptap_alloc(NULL, base, 1, 7);
    heaptap_free(NULL, base);
    heaptap_reset(NULL);
}

/* Use a queue of 3 blocks of 2 objects each, and a queue of 20: 47 blocks are freed after 3 others,
 * 30 after 20. */
static void
run_lives(void)
{
    heaptap_heap *heap = heaptap_heap_create("lives", 0);

    for (int i = 0; i < 50; i++) {
        heaptap_alloc(heap, base + 64 * i, 2, 64);
        if (i >= 3)
            heaptap_free(heap, base + 64 * (i - 3));
    }
    for (int i = 0; i < 50; i++) {
        heaptap_alloc(heap, base + 4096 + 64 * i, 1, 64);
        if (i >= 20)
            heaptap_free(heap, base + 4096 + 64 * (i - 20));
    }
    heaptap_reset(heap);
}

/* A runtime's heap must not be reset: the reset is one lost event. */
static void
run_lasting(void)
{
    heaptap_heap *heap = heaptap_heap_create("lasting", HEAPTAP_LASTING);

    for (int i = 0; i < 3; i++)
        heaptap_alloc(heap, base + 64 * i, 1, 100);
    heaptap_free(heap, base);
    heaptap_reset(heap);
    heaptap_free(heap, base + 64);
    heaptap_resize(heap, base + 128, base, 150);
    heaptap_free(heap, base);
    heaptap_heap_destroy(heap);
    heap = heaptap_heap_create("after", 0); // The new heap reuses the instance.
    heaptap_alloc(heap, base, 1, 70);
    heaptap_reset(heap);
}

/* --- Mixed: one stack, four heaps, and the expected sums -------------------------------------- */

enum { MIXED_HEAPS = 4, MIXED_ADDRESSES = 600, MIXED_EVENTS = 400000 };

struct mixed {
    heaptap_heap *heap;
    char *base;
    int bytes[MIXED_ADDRESSES]; // Size of the object at BASE + 20 * I; 0 = no object there.
    int live;
    long live_bytes, allocations, allocated_bytes, frees, freed_bytes;
};

static void
mixed_end(struct mixed *m, int i)
{
    m->frees++;
    m->freed_bytes += m->bytes[i];
    m->live--;
    m->live_bytes -= m->bytes[i];
    m->bytes[i] = 0;
}

/* Allocate object I. All objects are allocated here, including those that replace an object whose
 * free is not reported. */
static void
mixed_alloc(struct mixed *m, int i, int bytes)
{
    if (m->bytes[i] != 0)
        mixed_end(m, i);
    heaptap_alloc(m->heap, m->base + 20 * i, 1, (size_t)bytes);
    m->bytes[i] = bytes;
    m->allocations++;
    m->allocated_bytes += bytes;
    m->live++;
    m->live_bytes += bytes;
}

static void
mixed_all_end(struct mixed *m)
{
    for (int i = 0; i < MIXED_ADDRESSES; i++)
        if (m->bytes[i] != 0)
            mixed_end(m, i);
}

static void
mixed_tell(const char *path, const struct mixed *m, int count)
{
    struct mixed sum = {0};
    FILE *out = fopen(path, "w");

    for (; count > 0; count--, m++) {
        sum.allocations += m->allocations;
        sum.allocated_bytes += m->allocated_bytes;
        sum.frees += m->frees;
        sum.freed_bytes += m->freed_bytes;
        sum.live += m->live;
        sum.live_bytes += m->live_bytes;
    }
    fprintf(out, "allocations=%ld allocated_bytes=%ld frees=%ld freed_bytes=%ld ", sum.allocations,
            sum.allocated_bytes, sum.frees, sum.freed_bytes);
    fprintf(out, "live=%d live_bytes=%ld\n", sum.live, sum.live_bytes);
    fclose(out);
}

/* Use four heaps: two of one name at the same addresses, a third with that name that is recreated
 * from time to time, and one that stays. Some granules have two objects; one part has large
 * objects. */
static void
run_mixed(void)
{
    static struct mixed all[MIXED_HEAPS];
    uint64_t random = 1;

    for (int i = 0; i < MIXED_HEAPS; i++) {
        all[i].base = base + (i < 2 ? 0 : MILLION * i);
        all[i].heap = i < 3 ? heaptap_heap_create("mixed", 0)
                            : heaptap_heap_create("that lasts", HEAPTAP_LASTING | HEAPTAP_DENSE);
    }
    for (int n = 1; n <= MIXED_EVENTS; n++) {
        uint32_t r = (uint32_t)((random = random * UINT64_C(6364136223846793005) + 1) >> 33);
        // Use one heap for a while, then change the heap at each event.
        struct mixed *m = &all[n / 1000 % 2 ? n / 10000 % MIXED_HEAPS : r % MIXED_HEAPS];
        int i = (int)(r >> 8) % MIXED_ADDRESSES;
        int is_large = i < MIXED_ADDRESSES / 3 && (r >> 4 & 7) == 0;

        if (m->bytes[i] != 0 && (r & 12) != 0) {
            heaptap_free(m->heap, m->base + 20 * i);
            mixed_end(m, i);
        } else {
            mixed_alloc(m, i, 1 + (int)(r >> 18) % (is_large ? 3000 : 60));
        }
        if (n % 5000 == 0 && m != &all[3]) {
            heaptap_reset(m->heap);
            mixed_all_end(m);
        }
        if (n % 7000 == 0) {
            heaptap_heap_destroy(all[2].heap);
            mixed_all_end(&all[2]);
            all[2].heap = heaptap_heap_create("mixed", 0);
        }
    }
    mixed_tell("mixed.sums", all, 3);
    mixed_tell("lasts.sums", &all[3], 1);
}

/* With two objects within 32 bytes, overwrite the later one after the other was freed, from a known
 * stack. */
static void
run_second(void)
{
    static struct mixed m;

    m.base = base;
    m.heap = heaptap_heap_create("second", 0);
    for (int n = 0; n < 40; n++) {
        mixed_alloc(&m, n % 4 == 0 ? 0 : 1, 10); // First object 0 is live, then 1, then both.
        if (n % 4 == 2) {
            heaptap_free(m.heap, m.base);
            mixed_end(&m, 0);
        }
    }
}

/* Free a million live blocks at once by a reset; then 10 of 8 bytes are live. */
static void
run_reset(void)
{
    heaptap_heap *heap = heaptap_heap_create("million", 0);
    struct timespec from, to;
    FILE *out;

    for (uintptr_t i = 0; i < MILLION; i++)
        heaptap_alloc(heap, base + 16 * i, 1, 16);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    heaptap_reset(heap);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    for (uintptr_t i = 0; i < 10; i++)
        heaptap_alloc(heap, base + 16 * i, 1, 8);
    out = fopen("reset.ns", "w");
    fprintf(out, "%lld\n", (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec));
    fclose(out);
}

/* Resets and frees alternate so often that the count of emptyings wraps around. */
static void
run_round(void)
{
    heaptap_heap *heap = heaptap_heap_create("round", 0);

    for (int i = 0; i < 140000; i++) {
        heaptap_alloc(heap, base, 1, 10);
        heaptap_alloc(heap, base + 16, 1, 20);
        heaptap_free(heap, base);
        heaptap_reset(heap);
    }
    heaptap_free(heap, base + 16);
    heaptap_alloc(heap, base + 16, 1, 30);
}

/* Make 100,000 requests, each with a new arena, and never more than 3 arenas at once. */
static void
run_requests(void)
{
    heaptap_heap *heap[3] = {NULL};

    for (int i = 0; i < 100000; i++) {
        heaptap_heap **mine = &heap[i % 3];

        heaptap_heap_destroy(*mine);
        *mine = heaptap_heap_create("request arena", 0);
        for (uintptr_t k = 0; k < 5; k++)
            heaptap_alloc(*mine, base + 64 * k, 1, 64);
        heaptap_free(*mine, base);
    }
}

static void
run_names(void)
{
    char name[32];

    for (int i = 0; i < 3000; i++) {
        heaptap_heap *heap;

        snprintf(name, sizeof name, "name %d", i);
        heap = heaptap_heap_create(name, 0);
        heaptap_alloc(heap, base, 1, 1);
    }
}

static void
wrapped(heaptap_heap *heap, char *p, size_t bytes)
{
    heaptap_alloc(heap, p, 1, bytes);
}

static void
wrapped_twice(heaptap_heap *heap, char *p, size_t bytes)
{
    wrapped(heap, p, bytes);
}

static void
first_user(heaptap_heap *heap)
{
    wrapped_twice(heap, base, 10);
}

static void
second_user(heaptap_heap *heap)
{
    wrapped_twice(heap, base + 10, 20);
}

/* Use an allocator that consists of two functions from two callers, and a heap that skips all
 * frames but one. */
static void
run_skip(void)
{
    heaptap_heap *heap = heaptap_heap_create("skip", 2);
    heaptap_heap *all = heaptap_heap_create("skip all", 255);

    first_user(heap);
    second_user(heap);
    first_user(all);
    second_user(all);
}

/* --- Backing --------------------------------------------------------------------------------- */

/* Two chunks of 1000000 come from malloc, and 600000 of each are handed out, beside 500000 of plain
 * malloc. The peak is 500000 + 2 * 600000. */
static void
run_nested(void)
{
    heaptap_heap *heap = heaptap_heap_create("nested", 0);
    char *plain = malloc(500000);
    char *chunk[2];

    for (int i = 0; i < 2; i++) {
        chunk[i] = malloc(1000000);
        heaptap_backing(heap, chunk[i], 1000000);
        for (int k = 0; k < 6; k++)
            heaptap_alloc(heap, chunk[i] + 100000 * k, 1, 100000);
    }
    heaptap_reset(heap);
    free(chunk[0]);
    kept = plain;
}

/* The maximum is 2000000 when a chunk of 1500000 is added to 1000000. The chunk becomes backing; it
 * must not raise the maximum, and neither must the block made from it. */
static void
run_below(void)
{
    heaptap_heap *heap = heaptap_heap_create("below", 0);
    char *first = malloc(1000000), *second = malloc(1000000), *chunk;

    kept = first;
    free(second);
    chunk = malloc(1500000);
    heaptap_backing(heap, chunk, 1500000);
    heaptap_alloc(heap, chunk, 1, 700000);
    free(malloc(100));
}

/* Use backing that ends without a free, that realloc moves, that is announced twice, and that is
 * not malloc's. */
static void
run_backing(void)
{
    heaptap_heap *heap = heaptap_heap_create("backing", 0);
    char *p = malloc(1000), *q = malloc(2000), *r = aligned_alloc(32, 3008);
    char *mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    heaptap_backing(heap, p, 1000);
    heaptap_backing_end(heap, p);
    heaptap_backing(heap, q, 2000);
    q = realloc(q, 4000);
    heaptap_backing(heap, r, 3008);
    heaptap_backing(heap, r, 3008);
    heaptap_backing_end(heap, p);
    heaptap_backing(heap, mapped, 8192);
    heaptap_backing_end(heap, mapped);
    heaptap_backing(heap, mapped, 4096);
    heaptap_backing(heap, r + 16, 100);
    free(r);
    free(p);
    kept = q;
}

/* --- Labels ---------------------------------------------------------------------------------- */

static void
one_of_each(heaptap_heap *heap)
{
    kept = malloc(100);
    kept = realloc(kept, 200);
    heaptap_alloc(heap, NULL, 1, 1000);
}

static void *
without_labels(void *heap)
{
    one_of_each(heap);
    return NULL;
}

static void *
with_labels(void *arg)
{
    heaptap_labels_set((heaptap_labels)(uintptr_t)arg);
    kept = malloc(10);
    return NULL;
}

static void
run_labels(void)
{
    heaptap_heap *heap = heaptap_heap_create("labelled", 0);
    heaptap_labels before, both;
    pthread_t thread;
    void *p;

    one_of_each(heap);
    heaptap_label("tenant", "acme");
    before = heaptap_labels_get();
    one_of_each(heap);
    heaptap_label("kind", "upload");
    one_of_each(heap);
    both = heaptap_labels_get();
    heaptap_label("tenant", "other one");
    one_of_each(heap);
    heaptap_labels_set(before);
    one_of_each(heap);
    p = malloc(7);
    heaptap_label("tenant", NULL);
    free(p);
    one_of_each(heap);
    pthread_create(&thread, NULL, with_labels, (void *)(uintptr_t)both);
    pthread_join(thread, NULL);
    heaptap_label("tenant", "acme");
    pthread_create(&thread, NULL, without_labels, heap);
    pthread_join(thread, NULL);
}

/* Make 10,000 different requests of 8 bytes, with one label each. */
static void
run_many_labels(void)
{
    char value[32];

    for (int i = 0; i < 10000; i++) {
        snprintf(value, sizeof value, "%d", i);
        heaptap_label("request", value);
        kept = malloc(8);
    }
    heaptap_label("request", NULL);
    kept = malloc(5);
}

/* --- Forks, handlers, threads ---------------------------------------------------------------- */

/* The child inherits 2 labelled blocks of the heap, and frees an older one. The parent has 1. */
static void
run_fork(void)
{
    heaptap_heap *heap = heaptap_heap_create("inherited", 0);
    pid_t child;

    heaptap_label("who", "me");
    heaptap_alloc(heap, base, 1, 100);
    child = fork();
    if (child == 0) {
        heaptap_heap *mine = heaptap_heap_create("of the child", 0);

        heaptap_alloc(heap, base + 100, 1, 10);
        heaptap_alloc(heap, base + 200, 1, 20);
        heaptap_free(heap, base);
        heaptap_alloc(mine, base, 1, 3);
        heaptap_reset(heap);
        heaptap_heap_destroy(heap);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static heaptap_heap *shared;
static volatile sig_atomic_t interruptions;

static void
on_alarm(int signal)
{
    char *p = base + 16 * (MILLION + (uintptr_t)interruptions);

    (void)signal;
    interruptions = interruptions + 1;
    heaptap_alloc(shared, p, 1, 1);
    heaptap_free(shared, p);
    heaptap_alloc(shared, NULL, 1, 2);
    heaptap_label("in", "handler");
    free(malloc(3));
    heaptap_label("in", NULL);
}

/* Alarms come all the time; each leaves a block of 2 bytes, and the other events balance. The
 * handler may call malloc, because both sizes have a free block before the first alarm that no
 * other code takes; the first call of malloc holds a lock. */
static void
run_handler(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    FILE *out;

    shared = heaptap_heap_create("interrupted", 0);
    free(malloc(3));
    free(malloc(50));
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; interruptions < 2000 || i < 100000; i++) {
        heaptap_alloc(shared, base, 1, 100);
        free(malloc(50));
        heaptap_free(shared, base);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    out = fopen("interruptions", "w");
    fprintf(out, "%d\n", (int)interruptions);
    fclose(out);
}

enum { THREADS = 8, EACH = 50000, RING = 4096 };

static uint64_t ring[RING]; /* Addresses that one thread passes to another. */

/* Allocate EACH blocks of 10 at private addresses. Put each into the ring, and free the block that
 * was there. */
static void *
hammer(void *arg)
{
    uintptr_t number = (uintptr_t)arg;
    uint64_t seed = number + 1;

    for (uintptr_t i = 0; i < EACH; i++) {
        char *p = base + 16 * (number * EACH + i);
        uint64_t there;

        heaptap_alloc(shared, p, 1, 10);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        there = __atomic_exchange_n(&ring[seed >> 52], (uint64_t)(uintptr_t)p, __ATOMIC_ACQ_REL);
        if (there != 0)
            heaptap_free(shared, (void *)(uintptr_t)there);
    }
    return NULL;
}

/* All threads share a pool without a lock; the blocks left in the ring are live at the end. */
static void
run_threads(void)
{
    pthread_t threads[THREADS];
    int left = 0;
    FILE *out;

    shared = heaptap_heap_create("pool", 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hammer, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < RING; i++)
        left += ring[i] != 0;
    out = fopen("left", "w");
    fprintf(out, "%d\n", left);
    fclose(out);
}

/* Create 4000 arenas of 1 MiB, with 1000 bytes in use in each. */
static void *
make_arenas(void *arg)
{
    (void)arg;
    for (int i = 0; i < 4000; i++) {
        heaptap_heap *heap = heaptap_heap_create("big arena", 0);
        char *chunk = malloc(1 << 20);

        heaptap_backing(heap, chunk, 1 << 20);
        heaptap_alloc(heap, chunk, 10, 1000);
        heaptap_heap_destroy(heap);
        free(chunk);
    }
    return NULL;
}

/* A thread creates an arena and a large block of malloc's, whose free is its next event. */
static void *
have_large_block(void *arg)
{
    (void)arg;
    make_arenas(NULL);
    kept = malloc(LARGE_BYTES);
    free(kept);
    return NULL;
}

static void
run_large(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, have_large_block, NULL);
    pthread_join(thread, NULL);
    kept = NULL;
}

/* There is no other thread: the maximum that the chunk made is undone, and the previous one, which
 * was far lower, is valid again. */
static void
run_large_alone(void)
{
    heaptap_heap *heap = heaptap_heap_create("alone", 0);
    char *chunk;

    free(malloc(100));
    chunk = malloc(1 << 20);
    heaptap_backing(heap, chunk, 1 << 20);
    kept = malloc(LARGE_BYTES);
    free(kept);
    kept = NULL;
}

/* The maximum is 3 MiB, without the chunk that is added to it. The next event is a free. */
static void
run_large_after(void)
{
    heaptap_heap *heap = heaptap_heap_create("after", 0);
    char *chunk;

    kept = malloc(3 << 20);
    chunk = malloc(1 << 20);
    heaptap_backing(heap, chunk, 1 << 20);
    free(kept);
    kept = malloc(LARGE_BYTES);
    free(kept);
    kept = NULL;
}

/* A hundred chunks back a heap one after the other; they never count as malloc's. */
static void
run_chunks(void)
{
    heaptap_heap *heap = heaptap_heap_create("chunks", 0);

    for (int i = 0; i < 100; i++) {
        char *chunk = malloc(1 << 20);

        heaptap_backing(heap, chunk, 1 << 20);
        heaptap_alloc(heap, chunk, 1, 100);
        heaptap_free(heap, chunk);
        free(chunk);
    }
}

/* Threads create arenas at the same time, while 3000000 bytes are live. */
static void
run_arenas(void)
{
    pthread_t threads[4];

    kept = malloc(3000000);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, make_arenas, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static int stop_it;

static void *
reset_all_the_time(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&stop_it, __ATOMIC_ACQUIRE))
        heaptap_reset(shared);
    return NULL;
}

/* Threads reset the heap while others allocate and free: a mistake of the program, which must not
 * harm other data. */
static void
run_race(void)
{
    pthread_t threads[3], resetter;

    shared = heaptap_heap_create("race", 0);
    pthread_create(&resetter, NULL, reset_all_the_time, NULL);
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, hammer, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&stop_it, 1, __ATOMIC_RELEASE);
    pthread_join(resetter, NULL);
    heaptap_reset(shared);
}

/* --- The recorder ---------------------------------------------------------------------------- */

static void
run_stop(void)
{
    heaptap_heap *heap = heaptap_heap_create("stopped", 0);
    void *p = malloc(100);

    heaptap_alloc(heap, base, 1, 100);
    heaptap_stop();
    kept = malloc(1000);
    heaptap_alloc(heap, base + 100, 1, 1000);
    free(p);
    heaptap_free(heap, base);
    heaptap_start();
    kept = malloc(10);
    heaptap_alloc(heap, base + 200, 1, 10);
    heaptap_free(heap, base + 100);
}

static void
run_phases(void)
{
    heaptap_phase("loading");
    kept = malloc(100);
    heaptap_snapshot("loaded");
    kept = malloc(200);
    heaptap_phase("a phase with a name of more than 32 bytes");
    heaptap_snapshot(NULL);
}

/* Charge bytes of existing objects without an allocation: 700, 30 and 2 at the same stack. */
static void
run_grown(void)
{
    static const size_t bytes[] = {700, 30, 2};
    heaptap_heap *heap = heaptap_heap_create("grown", 0);

    for (int i = 0; i < 3; i++) {
        heaptap_alloc(heap, base + 1000 * i, 0, bytes[i]);
        heaptap_snapshot(i == 0 ? "first" : i == 1 ? "second" : "third");
    }
}

/* Pass invalid arguments, which every function must tolerate. errno does not change. */
static void
run_nonsense(void)
{
    heaptap_heap *heap = heaptap_heap_create(NULL, 1u << 31), *gone, *wrong;
    char huge[5000];

    errno = 12345;
    heaptap_alloc(heap, (void *)UINTPTR_MAX, SIZE_MAX, SIZE_MAX);
    heaptap_free(heap, (void *)UINTPTR_MAX);
    heaptap_alloc(heap, base, 0, 0);
    heaptap_free(heap, base);
    heaptap_resize(heap, NULL, NULL, 5);
    heaptap_backing(heap, NULL, 5);
    heaptap_backing_end(heap, base);
    gone = heaptap_heap_create("gone", 0);
    heaptap_heap_destroy(gone);
    heaptap_heap_destroy(gone);
    heaptap_alloc(gone, base, 1, 1);
    wrong = (heaptap_heap *)(uintptr_t)0x123456789abcdef0u;
    heaptap_alloc(wrong, base, 1, 1);
    heaptap_heap_destroy(wrong);
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    heaptap_heap_create(huge, 0);
    heaptap_label(NULL, NULL);
    heaptap_label("", "x");
    heaptap_label(huge, "x");
    kept = malloc(11);
    heaptap_labels_set(12345);
    heaptap_phase(NULL);
    heaptap_snapshot(huge);
    if (heaptap_is_present() && (heaptap_write(-1, "pprof") != -1 || heaptap_write(1, NULL) != -1 ||
                                 heaptap_write(1, "xml") != -1))
        exit(1);
    if (errno != 12345)
        exit(1);
}

/* Allocate at new stacks until the tree is full: the heap must not lose its blocks. */
static void
dig(heaptap_heap *heap, unsigned path, int depth)
{
    if (depth == 0) {
        heaptap_alloc(heap, NULL, 1, 10);
        kept = malloc(7);
    } else if (path & 1) {
        dig(heap, path >> 1, depth - 1);
        kept = NULL;
    } else {
        dig(heap, path >> 1, depth - 1);
        __asm__ volatile("" ::: "memory");
    }
}

static void
run_full(void)
{
    heaptap_heap *heap = heaptap_heap_create("crowded", 0);

    for (unsigned path = 0; path < 1 << 14; path++)
        dig(heap, path, 14);
}

static void
run_limited(void)
{
    heaptap_max_memory(2 << 20);
    run_full();
}

/* Create the first heap when there is no memory for it. */
static void
run_late(void)
{
    heaptap_heap *heap;

    heaptap_max_memory(1 << 20);
    for (unsigned path = 0; path < 1 << 14; path++)
        dig(NULL, path, 14);
    heap = heaptap_heap_create("late", 0);
    for (uintptr_t i = 0; i < 1000; i++)
        heaptap_alloc(heap, base + 16 * i, 1, 10);
    heaptap_free(heap, base);
    heaptap_reset(heap);
    heaptap_heap_destroy(heap);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"events", run_events},
    {"lives", run_lives},
    {"lasting", run_lasting},
    {"mixed", run_mixed},
    {"second", run_second},
    {"reset", run_reset},
    {"round", run_round},
    {"requests", run_requests},
    {"names", run_names},
    {"skip", run_skip},
    {"nested", run_nested},
    {"below", run_below},
    {"backing", run_backing},
    {"labels", run_labels},
    {"many_labels", run_many_labels},
    {"fork", run_fork},
    {"handler", run_handler},
    {"threads", run_threads},
    {"race", run_race},
    {"arenas", run_arenas},
    {"large", run_large},
    {"large_alone", run_large_alone},
    {"large_after", run_large_after},
    {"chunks", run_chunks},
    {"stop", run_stop},
    {"phases", run_phases},
    {"grown", run_grown},
    {"nonsense", run_nonsense},
    {"full", run_full},
    {"limited", run_limited},
    {"late", run_late},
};

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 2;
}

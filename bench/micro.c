/* micro.c: measure the cost of one pair of malloc and free, in situations that matter to a
 * recorder.
 *
 *     micro KIND PAIRS [THREADS]
 *
 * The output is "ns_per_pair X": processor time of all threads in the loop, divided by PAIRS. A
 * recorded run prints a larger number, and the difference is the recorder's cost. All random
 * choices come from one fixed sequence, so both runs do exactly the same.
 *
 *     headline   50 sites in turn, 20 frames entered anew for every pair
 *     depth5 depth20 depth60
 *                site in a loop below 5, 20 or 60 frames, a random block of 1,000 replaced
 *     paths      the innermost 8 of 20 frames chosen at random for every pair
 *     live       100,000 live blocks, replaced at random: memory is touched that no cache holds
 *     deep       400 frames entered anew for every pair
 *     handler    16 pairs in a signal handler, raised anew below 20 frames
 *     coroutine5 coroutine60 coroutine900
 *                as depth5, on a stack other than the thread's own
 *     heap64 heap256 heap32000
 *                as depth20, but pairs of heaptap_alloc and heaptap_free: adjacent objects of so
 *                many bytes
 *     churn      threads of 50 pairs each, one after another
 *     own        THREADS at once, each replaces its own blocks
 *     cross      the same, but every 20,000 pairs the blocks go to the next thread to be freed
 *     swarm      THREADS at once that come and go: each replaces its own blocks 1,000 times, hands
 *                the rest to the next one in its place, and ends */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "descent.h"
#include "heaptap/heaptap.h"

enum { MAX_THREADS = 64, THREAD_LIVE = 2000, CHURN_PAIRS = 50, HAND_OVER_PAIRS = 20000,
       SWARM_PAIRS = 1000, SWARM_LIVE = 200, COROUTINE_STACK_BYTES = 1 << 20 };

/* Parameters of a kind. */
struct shape {
    const char *name;
    unsigned depth;
    unsigned sites; // 1 to SITE_COUNT, used in turn.
    unsigned batch; // Pairs at the bottom of each descent.
    unsigned live;  // Number of live blocks, which are replaced at random; 0 = each block is freed
                    // at once.
    bool paths;     // Random inner frames.
    unsigned heap_bytes; // Size of objects in a heap of heaptap.h; 0 = use malloc.
    bool coroutine;      // On a stack of its own.
};

/* One thread's state. */
struct work {
    const struct shape *shape;
    void **blocks;
    uint64_t random;
    unsigned next_site;
    unsigned left; // Remaining pairs at the bottom of this descent.
};

static const struct shape shapes[] = {
    {"headline", 20, SITE_COUNT, 1, 0, false, 0, false},
    {"depth5", 5, 1, 64, 1000, false, 0, false},
    {"depth20", 20, 1, 64, 1000, false, 0, false},
    {"depth60", 60, 1, 64, 1000, false, 0, false},
    {"paths", 20, 1, 1, 0, true, 0, false},
    {"live", 20, 10, 16, 100000, false, 0, false},
    {"deep", 400, 4, 1, 0, false, 0, false},
    {"handler", 20, 1, 16, 0, false, 0, false},
    {"coroutine5", 5, 1, 64, 1000, false, 0, true},
    {"coroutine60", 60, 1, 64, 1000, false, 0, true},
    {"coroutine900", 900, 1, 64, 1000, false, 0, true},
    {"heap64", 20, 1, 64, 1000, false, 64, false},
    {"heap256", 20, 1, 64, 1000, false, 256, false},
    {"heap32000", 20, 1, 64, 1000, false, 32000, false},
    {"churn", 8, 4, 1, 0, false, 0, false},
    {"own", 8, 4, 16, THREAD_LIVE, false, 0, false},
    {"cross", 8, 4, 16, THREAD_LIVE, false, 0, false},
    {"swarm", 8, 4, 16, SWARM_LIVE, false, 0, false},
};

static long thread_pairs;
static unsigned thread_count;
static bool hands_over;
static pthread_barrier_t barrier;
static void **shared_blocks[MAX_THREADS];
static heaptap_heap *heap;
static char *const heap_start = (char *)0x600000000000; // Addresses only, no memory.

static int
one_pair(struct work *w)
{
    uint64_t r = descent_random(&w->random);
    char *p = descent_malloc(w->next_site, 16 + (r & 0x1ff));

    w->next_site = w->next_site + 1 == w->shape->sites ? 0 : w->next_site + 1;
    if (!p)
        abort();
    p[0] = 1;
    if (w->blocks) {
        void **slot = &w->blocks[(r >> 32) % w->shape->live];

        free(*slot);
        *slot = p;
    } else {
        free(p);
    }
    return (int)(r & 1);
}

static int
one_heap_pair(struct work *w)
{
    uint64_t r = descent_random(&w->random);
    size_t size_bytes = w->shape->heap_bytes;
    char *p = heap_start + (r >> 32) % w->shape->live * size_bytes;

    heaptap_free(heap, p);
    heaptap_alloc(heap, p, 1, size_bytes);
    return (int)(r & 1);
}

static int
bottom(void *context)
{
    struct work *w = context;
    int sum = 0;

    for (unsigned i = 0; i < w->left; i++)
        sum += w->shape->heap_bytes ? one_heap_pair(w) : one_pair(w);
    return sum;
}

static struct work *interrupted;

static void
on_signal(int number)
{
    (void)number;
    bottom(interrupted);
}

static int
raise_at_bottom(void *context)
{
    interrupted = context;
    return raise(SIGUSR1);
}

static void
do_pairs(struct work *w, long pairs)
{
    descent_fn *fn = strcmp(w->shape->name, "handler") ? bottom : raise_at_bottom;

    for (long done = 0; done < pairs; done += w->left) {
        uint32_t path = w->shape->paths ? (uint32_t)descent_random(&w->random) : 0;

        w->left = pairs - done < w->shape->batch ? (unsigned)(pairs - done) : w->shape->batch;
        descent(w->shape->depth, path, fn, w);
    }
}

static void **
new_blocks(const struct shape *shape)
{
    void **blocks = shape->live ? calloc(shape->live, sizeof *blocks) : NULL;

    if (shape->live && !blocks)
        abort();
    return blocks;
}

static void
free_blocks(const struct shape *shape, void **blocks)
{
    for (unsigned i = 0; i < shape->live; i++)
        free(blocks[i]);
    free(blocks);
}

static ucontext_t outside, inside;
static struct work *coroutine_work;
static long coroutine_pairs;

static void
coroutine(void)
{
    do_pairs(coroutine_work, coroutine_pairs);
}

static void
in_coroutine(struct work *w, long pairs)
{
    coroutine_work = w;
    coroutine_pairs = pairs;
    getcontext(&inside);
    inside.uc_stack.ss_size = COROUTINE_STACK_BYTES;
    inside.uc_stack.ss_sp = mmap(NULL, COROUTINE_STACK_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (inside.uc_stack.ss_sp == MAP_FAILED)
        abort();
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
}

static void
alone(const struct shape *shape, long pairs)
{
    struct work w = {.shape = shape, .blocks = new_blocks(shape), .random = 1};

    heap = heaptap_heap_create("objects", 0);
    for (unsigned i = 0; shape->heap_bytes && i < shape->live; i++)
        heaptap_alloc(heap, heap_start + (size_t)i * shape->heap_bytes, 1, shape->heap_bytes);
    signal(SIGUSR1, on_signal);
    if (shape->coroutine)
        in_coroutine(&w, pairs);
    else
        do_pairs(&w, pairs);
    free_blocks(shape, w.blocks);
}

static void *
short_thread(void *context)
{
    struct work w = {.shape = context, .random = 1};

    do_pairs(&w, CHURN_PAIRS);
    return NULL;
}

static void
churn(const struct shape *shape, long pairs)
{
    pthread_t thread;

    for (long done = 0; done < pairs; done += CHURN_PAIRS) {
        if (pthread_create(&thread, NULL, short_thread, (void *)(uintptr_t)shape))
            abort();
        pthread_join(thread, NULL);
    }
}

static const struct shape *team_shape;

static void *
team_thread(void *context)
{
    unsigned own = (unsigned)(uintptr_t)context, holds = own;
    struct work w = {.shape = team_shape, .random = own + 1};

    for (long done = 0; done < thread_pairs; done += HAND_OVER_PAIRS) {
        long left = thread_pairs - done;

        w.blocks = shared_blocks[holds];
        do_pairs(&w, left < HAND_OVER_PAIRS ? left : HAND_OVER_PAIRS);
        if (!hands_over)
            continue;
        pthread_barrier_wait(&barrier);
        holds = (holds + 1) % thread_count;
    }
    return NULL;
}

static void
team(const struct shape *shape, long pairs)
{
    pthread_t threads[MAX_THREADS];

    team_shape = shape;
    thread_pairs = pairs / thread_count;
    hands_over = !strcmp(shape->name, "cross");
    pthread_barrier_init(&barrier, NULL, thread_count);
    for (unsigned i = 0; i < thread_count; i++)
        shared_blocks[i] = new_blocks(shape);
    for (unsigned i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, team_thread, (void *)(uintptr_t)i))
            abort();
    for (unsigned i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < thread_count; i++)
        free_blocks(shape, shared_blocks[i]);
}

static void *
swarm_thread(void *context)
{
    unsigned self = (unsigned)(uintptr_t)context;
    struct work w = {.shape = team_shape, .blocks = shared_blocks[self], .random = self};

    do_pairs(&w, SWARM_PAIRS);
    return NULL;
}

static void
swarm(const struct shape *shape, long pairs)
{
    pthread_t threads[MAX_THREADS];
    bool started[MAX_THREADS] = {false};

    team_shape = shape;
    for (unsigned i = 0; i < thread_count; i++)
        shared_blocks[i] = new_blocks(shape);
    for (long i = 0; i < pairs / SWARM_PAIRS + (long)thread_count; i++) {
        unsigned place = (unsigned)(i % thread_count);

        if (started[place])
            pthread_join(threads[place], NULL);
        started[place] = i < pairs / SWARM_PAIRS;
        if (started[place] &&
            pthread_create(&threads[place], NULL, swarm_thread, (void *)(uintptr_t)place))
            abort();
    }
    for (unsigned i = 0; i < thread_count; i++)
        free_blocks(shape, shared_blocks[i]);
}

static double
cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void
measure(const struct shape *shape, long pairs)
{
    double began = cpu_ns();

    if (!strcmp(shape->name, "swarm"))
        swarm(shape, pairs);
    else if (thread_count)
        team(shape, pairs);
    else if (!strcmp(shape->name, "churn"))
        churn(shape, pairs);
    else
        alone(shape, pairs);
    printf("ns_per_pair %.3f\n", (cpu_ns() - began) / (double)pairs);
}

int
main(int argc, char **argv)
{
    long pairs = argc > 2 ? atol(argv[2]) : 0;

    thread_count = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    for (size_t i = 0; argc > 1 && i < sizeof shapes / sizeof shapes[0]; i++) {
        bool many = !strcmp(argv[1], "own") || !strcmp(argv[1], "cross") ||
                    !strcmp(argv[1], "swarm");

        if (strcmp(argv[1], shapes[i].name) || pairs < 1 || thread_count > MAX_THREADS ||
            many != (thread_count > 0))
            continue;
        measure(&shapes[i], pairs);
        return 0;
    }
    fprintf(stderr, "usage: micro KIND PAIRS [THREADS]; the head of micro.c lists the kinds\n");
    return 2;
}

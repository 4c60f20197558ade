/* cflags: -O1 -fno-builtin */
/* libs: -lpthread */
/* switched.c: allocate at full speed in threads, which count their events.
 *
 *     switched THREADS
 *
 * All allocations belong to the current stretch, a number from 0 on. Stretch 0 allocates in the
 * function stretch_0, and so on, so that each stretch has separate sites. A line with a number on
 * standard input begins or resumes that stretch. The program answers with the same number when
 * every thread has made more events than a recorder makes between two polls. The line "slow" makes
 * the threads sleep from time to time, "fast" ends that. At "end", the threads stop, all blocks
 * except the kept ones are freed, and the true counts are printed, one line for each stretch:
 *
 *     STRETCH ALLOCATIONS BYTES FREES FREED-BYTES
 *
 * Blocks have 16 to 1,000 bytes, mostly few, and one in 2,000 has 20,000. They are stored in slots
 * that all threads share, so another thread frees most of them. One in 64 is resized by realloc,
 * which counts as a free and an allocation. One in 128 is kept forever. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STRETCHES = 16, THREADS_MAX = 8, PLACES = 4096, BATCH = 64 };

// Minimum of a thread's calls and bytes before it answers.
enum { ANSWER_CALLS = 12288, ANSWER_BYTES = 768 << 10 };

struct block {
    uint32_t stretch, size;
    struct block *next; // Next block in the list of kept blocks.
};

struct truth {
    uint64_t allocations, bytes, frees, freed_bytes;
};

struct worker {
    pthread_t thread;
    uint64_t random;
    struct truth truth[STRETCHES];
    struct block *kept;
    _Atomic uint64_t calls, bytes; // Counts since the current round began.
    _Atomic int round;
};

static struct worker workers[THREADS_MAX];
static struct block *_Atomic places[PLACES];
static _Atomic int present, round_number; // Each input line begins a round.
static _Atomic bool slow, stopped;

static uint64_t
draw(struct worker *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

static uint32_t
draw_size(struct worker *w)
{
    uint64_t r = draw(w);

    if (r % 2000 == 0)
        return 20000;
    return (uint32_t)(16 + (r >> 32) % (r % 8 ? 100 : 985));
}

static void
drop(struct worker *w, struct block *b)
{
    if (b == NULL)
        return;
    w->truth[b->stretch].frees++;
    w->truth[b->stretch].freed_bytes += b->size;
    free(b);
}

static void
count(struct worker *w, struct block *b, int stretch, uint32_t size)
{
    b->stretch = (uint32_t)stretch;
    b->size = size;
    w->truth[stretch].allocations++;
    w->truth[stretch].bytes += size;
    w->calls++;
    w->bytes += size;
}

/* Make many calls in STRETCH. Inlined into a function of each stretch. */
static inline __attribute__((always_inline)) void
work(struct worker *w, int stretch)
{
    for (int i = 0; i < BATCH; i++) {
        uint32_t size = draw_size(w);
        struct block *b = malloc(size);

        count(w, b, stretch, size);
        if (draw(w) % 64 == 0) {
            struct truth *t = &w->truth[stretch];

            t->frees++;
            t->freed_bytes += size;
            size = draw_size(w);
            b = realloc(b, size);
            count(w, b, stretch, size);
        }
        if (draw(w) % 128 == 0) {
            b->next = w->kept;
            w->kept = b;
        } else {
            drop(w, atomic_exchange(&places[draw(w) % PLACES], b));
        }
    }
}

#define STRETCH(n)                                                                                 \
    __attribute__((noinline, noclone)) void stretch_##n(struct worker *w);                         \
    void stretch_##n(struct worker *w)                                                             \
    {                                                                                              \
        work(w, n);                                                                                \
        __asm__ volatile("# " #n);                                                                 \
    }

STRETCH(0)
STRETCH(1)
STRETCH(2)
STRETCH(3)
STRETCH(4)
STRETCH(5)
STRETCH(6)
STRETCH(7)
STRETCH(8)
STRETCH(9)
STRETCH(10)
STRETCH(11)
STRETCH(12)
STRETCH(13)
STRETCH(14)
STRETCH(15)

static void (*const stretches[STRETCHES])(struct worker *w) = {
    stretch_0, stretch_1, stretch_2,  stretch_3,  stretch_4,  stretch_5,  stretch_6,  stretch_7,
    stretch_8, stretch_9, stretch_10, stretch_11, stretch_12, stretch_13, stretch_14, stretch_15,
};

static void
nap(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void *
run(void *arg)
{
    struct worker *w = arg;

    while (!stopped) {
        int round = round_number;

        if (round != w->round) {
            w->calls = w->bytes = 0;
            w->round = round;
        }
        stretches[present](w);
        if (slow)
            nap(200000);
    }
    return NULL;
}

static void
begin(int stretch, int threads)
{
    int round = round_number + 1;

    present = stretch; // Set before the round begins, so that all its calls belong to this stretch.
    round_number = round;
    for (int i = 0; i < threads; i++)
        while (workers[i].round != round || workers[i].calls < ANSWER_CALLS ||
               workers[i].bytes < ANSWER_BYTES)
            nap(1000000);
    printf("%d\n", stretch);
    fflush(stdout);
}

static void
tell(int threads)
{
    for (int s = 0; s < STRETCHES; s++) {
        struct truth sum = {0};

        for (int i = 0; i < threads; i++) {
            sum.allocations += workers[i].truth[s].allocations;
            sum.bytes += workers[i].truth[s].bytes;
            sum.frees += workers[i].truth[s].frees;
            sum.freed_bytes += workers[i].truth[s].freed_bytes;
        }
        printf("%d %llu %llu %llu %llu\n", s, (unsigned long long)sum.allocations,
               (unsigned long long)sum.bytes, (unsigned long long)sum.frees,
               (unsigned long long)sum.freed_bytes);
    }
}

int
main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 0;
    char line[64];

    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    for (int i = 0; i < threads; i++) {
        workers[i].random = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0)
            return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "end\n") != 0) {
        if (strcmp(line, "slow\n") == 0 || strcmp(line, "fast\n") == 0)
            slow = line[0] == 's';
        else
            begin(atoi(line) % STRETCHES, threads);
    }
    stopped = true;
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < PLACES; i++)
        drop(&workers[0], places[i]);
    tell(threads);
    return 0;
}

/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* history_known.c: allocate at random, and print the counters of each site at each snapshot.
 *
 *     history_known SEED EVENTS EVERY THREADS END
 *
 * Each thread allocates, reallocates and frees EVENTS times. With one thread, the program calls
 * raise(SIGUSR1) after about one event in EVERY; the recorder then takes a snapshot. Several
 * THREADS also free one another's blocks, and the signal is raised after each round of EVERY
 * events, while all threads wait. END is
 *
 *     exit     the process exits
 *     kill     it is killed by SIGKILL
 *     fork     it forks after half of the events, and the child starts with empty counters
 *     storm    threads do not wait: each allocates at its own site, and raises the signal after
 *              every EVERY allocations
 *
 * Prints without allocating:
 *
 *     site ADDRESS...         where each function begins, and where the last one ends
 *     snap A B F G A B F G…   at a snapshot: allocations, bytes, frees, freed bytes of each site
 *     peak TOTAL BYTES BLOCKS BYTES BLOCKS…   the largest live bytes, and the shares of the sites
 *     child                   the following lines are the forked child's; printed first
 *     storm N                 each thread has taken N snapshots
 *
 * history.py compares that with the profile. With several threads there is no peak line. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SITES = 12, BLOCKS = 600, THREADS_MAX = 8, TEXT_BYTES = 1 << 20, LINE_BYTES = 4096 };

/* The linker defines symbols for the bounds of this section, because its name is a C identifier. */
#define SITE __attribute__((noinline, section("sites")))

#define ALLOCATES(number)                                                                          \
    SITE static void *allocate_##number(void *p, size_t size_bytes)                                \
    {                                                                                              \
        (void)p;                                                                                   \
        __asm__ volatile("# " #number);                                                            \
        return malloc(size_bytes);                                                                 \
    }

#define REALLOCATES(number)                                                                        \
    SITE static void *allocate_##number(void *p, size_t size_bytes)                                \
    {                                                                                              \
        __asm__ volatile("# " #number);                                                            \
        return realloc(p, size_bytes);                                                             \
    }

ALLOCATES(0)
ALLOCATES(1)
ALLOCATES(2)
ALLOCATES(3)
ALLOCATES(4)
ALLOCATES(5)
ALLOCATES(6)
ALLOCATES(7)
ALLOCATES(8)
ALLOCATES(9)
REALLOCATES(10)
REALLOCATES(11)

static void *(*const allocate[SITES])(void *, size_t) = {
    allocate_0, allocate_1, allocate_2, allocate_3, allocate_4,  allocate_5,
    allocate_6, allocate_7, allocate_8, allocate_9, allocate_10, allocate_11};
enum { FIRST_REALLOC = 10 };

extern const char __stop_sites[];

struct counts {
    uint64_t allocations, allocated_bytes, frees, freed_bytes;
};

struct block {
    void *p;
    uint64_t size_bytes;
    int site;
};

struct worker {
    uint64_t random;
    struct counts counts[SITES];
    struct block blocks[BLOCKS];
    int block_count;
};

static struct worker workers[THREADS_MAX];
static int worker_count;
static long events, every;
static pthread_barrier_t barrier;

static int64_t live_bytes, peak_bytes;
static int64_t peak_shares[SITES][2];

static char text[TEXT_BYTES];
static size_t text_length;

static void
say(const char *s)
{
    size_t length = strlen(s);

    memcpy(text + text_length, s, length);
    text_length += length;
}

static void
say_number(int64_t number)
{
    char digits[24];
    size_t i = sizeof digits;
    uint64_t n = number < 0 ? -(uint64_t)number : (uint64_t)number;

    digits[--i] = '\0';
    do
        digits[--i] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    say(number < 0 ? " -" : " ");
    say(digits + i);
}

static void
flush(void)
{
    size_t done = 0;

    while (done < text_length) {
        ssize_t n = write(STDOUT_FILENO, text + done, text_length - done);

        if (n <= 0)
            _exit(3);
        done += (size_t)n;
    }
    text_length = 0;
}

static void
say_snapshot(void)
{
    if (text_length > TEXT_BYTES - LINE_BYTES)
        flush();
    say("snap");
    for (int site = 0; site < SITES; site++) {
        struct counts sum = {0};

        for (int i = 0; i < worker_count; i++) {
            const struct counts *c = &workers[i].counts[site];

            sum.allocations += c->allocations;
            sum.allocated_bytes += c->allocated_bytes;
            sum.frees += c->frees;
            sum.freed_bytes += c->freed_bytes;
        }
        say_number((int64_t)sum.allocations);
        say_number((int64_t)sum.allocated_bytes);
        say_number((int64_t)sum.frees);
        say_number((int64_t)sum.freed_bytes);
    }
    say("\n");
}

static void
snapshot(void)
{
    raise(SIGUSR1);
    say_snapshot();
}

static uint64_t
draw(struct worker *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % below;
}

static void
keep_peak(int64_t change_bytes)
{
    if (worker_count > 1 || (live_bytes += change_bytes) <= peak_bytes)
        return;
    peak_bytes = live_bytes;
    for (int site = 0; site < SITES; site++) {
        const struct counts *c = &workers[0].counts[site];

        peak_shares[site][0] = (int64_t)(c->allocated_bytes - c->freed_bytes);
        peak_shares[site][1] = (int64_t)(c->allocations - c->frees);
    }
}

/* Return a random size; all size classes occur. */
static uint64_t
draw_size(struct worker *w)
{
    return draw(w, 3) == 0 ? draw(w, 5000) : draw(w, 300);
}

static void
begin_block_at(struct worker *w, int site)
{
    struct block *b = &w->blocks[w->block_count++];

    b->site = site;
    b->size_bytes = draw_size(w);
    b->p = allocate[b->site](NULL, b->size_bytes);
    w->counts[b->site].allocations++;
    w->counts[b->site].allocated_bytes += b->size_bytes;
    keep_peak((int64_t)b->size_bytes);
}

static void
begin_block(struct worker *w)
{
    begin_block_at(w, (int)draw(w, FIRST_REALLOC));
}

static void
count_end(struct worker *w, const struct block *b)
{
    w->counts[b->site].frees++;
    w->counts[b->site].freed_bytes += b->size_bytes;
}

static void
move_block(struct worker *w)
{
    struct block *b = &w->blocks[draw(w, (uint64_t)w->block_count)];
    uint64_t before = b->size_bytes;

    count_end(w, b);
    b->site = FIRST_REALLOC + (int)draw(w, SITES - FIRST_REALLOC);
    b->size_bytes = draw_size(w) + 1;
    b->p = allocate[b->site](b->p, b->size_bytes);
    w->counts[b->site].allocations++;
    w->counts[b->site].allocated_bytes += b->size_bytes;
    keep_peak((int64_t)(b->size_bytes - before));
}

static void
end_block(struct worker *w)
{
    struct block *b = &w->blocks[draw(w, (uint64_t)w->block_count)];

    free(b->p);
    count_end(w, b);
    keep_peak(-(int64_t)b->size_bytes);
    *b = w->blocks[--w->block_count];
}

/* Allocate, move or free a block at random. Every 150 events the odds change, so that the heap
 * grows, keeps its size, or shrinks. */
static void
one_event(struct worker *w, long number)
{
    static const uint64_t percent_begun[] = {100, 50, 90, 10, 50, 60};
    uint64_t begun = percent_begun[number / 150 % 6];

    if (w->block_count == 0 || (w->block_count < BLOCKS && draw(w, 100) < begun))
        begin_block(w);
    else if (draw(w, 4) == 0)
        move_block(w);
    else
        end_block(w);
}

/* Pass each worker's blocks to the next worker. */
static void
rotate(void)
{
    struct worker first = workers[0];

    for (int i = 0; i < worker_count; i++) {
        const struct worker *from = i + 1 < worker_count ? &workers[i + 1] : &first;

        memcpy(workers[i].blocks, from->blocks, sizeof first.blocks);
        workers[i].block_count = from->block_count;
    }
}

static void *
work(void *arg)
{
    struct worker *w = arg;

    for (long done = 0; done < events; done += every) {
        for (long i = 0; i < every; i++)
            one_event(w, done + i);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *
storm(void *arg)
{
    struct worker *w = arg;
    int site = (int)(w - workers);

    for (long i = 0; i < events; i++) {
        if (w->block_count == BLOCKS)
            end_block(w);
        begin_block_at(w, site);
        if ((i + 1) % every == 0)
            raise(SIGUSR1);
    }
    return NULL;
}

static void
run_storm(void)
{
    pthread_t threads[THREADS_MAX];

    for (int i = 0; i < worker_count; i++)
        pthread_create(&threads[i], NULL, storm, &workers[i]);
    for (int i = 0; i < worker_count; i++)
        pthread_join(threads[i], NULL);
    say("storm");
    say_number(events / every);
    say("\n");
}

static void
run_threads(void)
{
    pthread_t threads[THREADS_MAX];

    pthread_barrier_init(&barrier, NULL, (unsigned)worker_count + 1);
    for (int i = 0; i < worker_count; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (long done = 0; done < events; done += every) {
        pthread_barrier_wait(&barrier);
        snapshot();
        rotate();
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < worker_count; i++)
        pthread_join(threads[i], NULL);
}

static void
run_alone(long count)
{
    struct worker *w = &workers[0];

    begin_block(w); // A forked child is thereby recorded before its first snapshot.
    for (long i = 0; i < count; i++) {
        one_event(w, i);
        if (draw(w, (uint64_t)every) == 0)
            snapshot();
    }
}

static void
say_peak(void)
{
    say("peak");
    say_number(peak_bytes);
    for (int site = 0; site < SITES; site++) {
        say_number(peak_shares[site][0]);
        say_number(peak_shares[site][1]);
    }
    say("\n");
}

/* The child starts with empty counters; the parent waits for it. */
static void
fork_half_way(void)
{
    pid_t pid;
    int status;

    pid = fork();
    if (pid != 0) {
        if (waitpid(pid, &status, 0) != pid || status != 0)
            _exit(4);
        return;
    }
    text_length = 0;
    workers[0].block_count = 0;
    memset(workers[0].counts, 0, sizeof workers[0].counts);
    memset(peak_shares, 0, sizeof peak_shares);
    live_bytes = peak_bytes = 0;
    say("child\n");
    run_alone(events / 2);
    say_peak();
    flush();
    _exit(0);
}

int
main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    events = atol(argv[2]);
    every = atol(argv[3]);
    worker_count = atoi(argv[4]);
    for (int i = 0; i < worker_count; i++)
        workers[i].random =
            (uint64_t)atol(argv[1]) * 1000003 + (uint64_t)i * 7919 + 88172645463325252;
    say("site");
    for (int site = 0; site < SITES; site++)
        say_number((int64_t)(intptr_t)allocate[site]);
    say_number((int64_t)(intptr_t)__stop_sites);
    say("\n");
    if (strcmp(argv[5], "storm") == 0)
        run_storm();
    else if (worker_count > 1)
        run_threads();
    else
        run_alone(strcmp(argv[5], "fork") == 0 ? events / 2 : events);
    if (strcmp(argv[5], "fork") == 0) {
        fork_half_way();
        run_alone(events / 2);
    }
    if (worker_count == 1)
        say_peak();
    flush();
    if (strcmp(argv[5], "kill") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}

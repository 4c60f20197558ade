/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* random_mt.c SEED THREADS OPERATIONS: allocate at random in threads, and print statistics.
 *
 * Each thread performs OPERATIONS random operations at random places in a random chain of calls:
 * malloc, calloc, aligned allocations, realloc to larger and smaller sizes, and free. A third of
 * its blocks go to a mailbox that all threads share, so other threads free and resize them. At the
 * end, the program prints the sums of all threads:
 *
 *     allocations A allocated_bytes B frees F freed_bytes G reallocations R peak_bytes P
 *
 * with P only if there is one thread. All these allocations have `via` on the stack, and no others
 * have. mimalloc 2.2 changes the result of malloc_usable_size for a block that another thread
 * holds. If that happened, the last line on stderr is "N blocks changed their usable size". */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef NO_USABLE_SIZE // The allocator lacks malloc_usable_size, or has it under another name.
#define malloc_usable_size(p) ((void)(p), (size_t)0)
#endif

enum { SLOTS = 300, BOXES = 64, THREADS_MAX = 64 };

struct block {
    void *p;
    size_t size_bytes, usable_bytes;
};

struct books {
    long long allocations, allocated_bytes, frees, freed_bytes, reallocations, live, peak;
};

struct worker {
    pthread_t thread;
    uint64_t random;
    long operations;
    uint32_t large_bytes; // Maximum block size; few blocks are nearly as large.
    struct books books;
    struct block slots[SLOTS];
};

struct box {
    pthread_mutex_t lock;
    struct block block;
};

static struct worker workers[THREADS_MAX];
static atomic_int changed;
static struct box boxes[BOXES];

static uint32_t
draw(struct worker *w, uint32_t below)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->random >> 33) % below;
}

static size_t
draw_size(struct worker *w)
{
    switch (draw(w, 16)) {
    case 0:
        return 0;
    case 1:
        return draw(w, w->large_bytes);
    case 2:
    case 3:
        return draw(w, 5000);
    default:
        return draw(w, 300);
    }
}

static void
balance(struct books *b, long long change)
{
    b->live += change;
    if (b->live > b->peak)
        b->peak = b->live;
}

static void
note_alloc(struct books *b, size_t size_bytes)
{
    b->allocations++;
    b->allocated_bytes += (long long)size_bytes;
}

static void
note_free(struct books *b, size_t size_bytes)
{
    b->frees++;
    b->freed_bytes += (long long)size_bytes;
}

/* Allocate a block by a random function. */
static void *
get(uint32_t way, size_t size_bytes)
{
    void *p = NULL;

    switch (way) {
    case 0:
        return calloc(1, size_bytes);
    case 1:
        return memalign(128, size_bytes);
    case 2:
        return posix_memalign(&p, 64, size_bytes) == 0 ? p : NULL;
    case 3:
        return realloc(NULL, size_bytes);
    default:
        return malloc(size_bytes);
    }
}

static void
begin(struct worker *w, struct block *s)
{
    s->size_bytes = draw_size(w);
    s->p = get(draw(w, 10), s->size_bytes);
    if (s->p == NULL)
        _exit(1);
    s->usable_bytes = malloc_usable_size(s->p);
    memset(s->p, 1, s->size_bytes < 64 ? s->size_bytes : 64);
    note_alloc(&w->books, s->size_bytes);
    balance(&w->books, (long long)s->size_bytes);
}

static void
look(const struct block *s)
{
    if (malloc_usable_size(s->p) != s->usable_bytes)
        atomic_fetch_add_explicit(&changed, 1, memory_order_relaxed);
}

static void
resize(struct worker *w, struct block *s)
{
    size_t size_bytes = draw_size(w) + 1;

    look(s);
    s->p = draw(w, 2) ? realloc(s->p, size_bytes) : reallocarray(s->p, size_bytes, 1);
    if (s->p == NULL)
        _exit(1);
    s->usable_bytes = malloc_usable_size(s->p);
    note_free(&w->books, s->size_bytes);
    note_alloc(&w->books, size_bytes);
    balance(&w->books, (long long)size_bytes - (long long)s->size_bytes);
    w->books.reallocations++;
    s->size_bytes = size_bytes;
}

static void
end(struct worker *w, struct block *s)
{
    look(s);
    free(s->p);
    note_free(&w->books, s->size_bytes);
    balance(&w->books, -(long long)s->size_bytes);
    s->p = NULL;
}

static void
exchange(struct worker *w, struct block *s)
{
    struct box *box = &boxes[draw(w, BOXES)];
    struct block mine = *s;

    pthread_mutex_lock(&box->lock);
    *s = box->block;
    box->block = mine;
    pthread_mutex_unlock(&box->lock);
}

static void
operate(struct worker *w)
{
    struct block *s = &w->slots[draw(w, SLOTS)];
    uint32_t what = draw(w, 8);

    if (what < 2)
        exchange(w, s);
    else if (s->p == NULL)
        begin(w, s);
    else if (what < 4)
        resize(w, s);
    else
        end(w, s);
    if (s->p == NULL && what == 7) {
        begin(w, s);
        end(w, s);
    }
}

/* Call functions in random chains, with frames of different sizes. */
static void via(struct worker *w, uint32_t depth);

__attribute__((noinline, noclone)) static void
via_small(struct worker *w, uint32_t depth)
{
    char room[24];

    __asm__ volatile("" : : "r"(room) : "memory");
    via(w, depth);
    __asm__ volatile("" : : "r"(room) : "memory");
}

__attribute__((noinline, noclone)) static void
via_large(struct worker *w, uint32_t depth)
{
    char room[500] __attribute__((aligned(32)));

    __asm__ volatile("" : : "r"(room) : "memory");
    via(w, depth);
    __asm__ volatile("" : : "r"(room) : "memory");
}

__attribute__((noinline, noclone)) static void
via(struct worker *w, uint32_t depth)
{
    uint32_t again = draw(w, 4);

    if (depth == 0)
        operate(w);
    else if (draw(w, 2))
        via_small(w, depth - 1);
    else
        via_large(w, depth - 1);
    if (again == 0)
        operate(w);
}

static void *
work(void *arg)
{
    struct worker *w = arg;

    for (long i = 0; i < w->operations; i++)
        via(w, draw(w, 7));
    return NULL;
}

static struct books
add_up(int threads)
{
    struct books sum = {0};

    for (int i = 0; i < threads; i++) {
        const struct books *b = &workers[i].books;

        sum.allocations += b->allocations;
        sum.allocated_bytes += b->allocated_bytes;
        sum.frees += b->frees;
        sum.freed_bytes += b->freed_bytes;
        sum.reallocations += b->reallocations;
        sum.peak += b->peak;
    }
    return sum;
}

static int
print(const struct books *b, int threads)
{
    char text[300];
    int length = snprintf(text, sizeof text,
                          "allocations %lld allocated_bytes %lld frees %lld freed_bytes %lld "
                          "reallocations %lld",
                          b->allocations, b->allocated_bytes, b->frees, b->freed_bytes,
                          b->reallocations);

    if (threads == 1)
        length += snprintf(text + length, sizeof text - (size_t)length, " peak_bytes %lld",
                           b->peak);
    text[length++] = '\n';
    return write(1, text, (size_t)length) != length;
}

int
main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    struct books sum;

    for (int i = 0; i < BOXES; i++)
        pthread_mutex_init(&boxes[i].lock, NULL);
    for (int i = 0; i < threads && i < THREADS_MAX; i++) {
        workers[i].random = (uint64_t)(argc > 1 ? atol(argv[1]) : 1) * 1000003u + (uint64_t)i;
        // With threads, blocks are smaller, because the error of the peak depends on the largest
        // block.
        workers[i].large_bytes = threads > 1 ? 10000 : 200000;
        workers[i].operations = argc > 3 ? atol(argv[3]) : 10000;
        if (threads > 1)
            pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        else
            work(&workers[i]);
    }
    for (int i = 0; i < threads && threads > 1; i++)
        pthread_join(workers[i].thread, NULL);
    if (changed != 0)
        dprintf(2, "%d blocks changed their usable size\n", changed);
    sum = add_up(threads);
    return print(&sum, threads);
}

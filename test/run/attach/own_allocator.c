/* own_allocator.c: a program with its own allocator, for attach_hook.sh, which builds it in several
 * forms:
 *
 *     (no option)       the allocator's functions are malloc, free, …, and dynamic symbols
 *     -DHIDDEN          the same, but known to the program only
 *     -DPREFIX=pool_    they are called pool_malloc, …, and are local to this file
 *
 *     own_allocator commands       obeys the letters on standard input, one at a time, and answers
 *                                  each with the same letter:
 *                                    a  100 blocks of 10 to 109 bytes, and keeps them
 *                                    f  frees all that it keeps
 *                                    c  calloc, realloc, aligned_alloc: one block each, then freed.
 *                                       Inside, calloc calls malloc, and realloc calls both
 *                                    s  strdup and free, by libc
 *                                    t  a thread that allocates and frees 50 blocks of 32 bytes
 *     own_allocator churn THREADS  allocates in many threads and checks the contents, until the end
 *                                  of standard input
 *
 * Prints "ok" at the end if all was as expected. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef PREFIX
#define LINKAGE static __attribute__((noipa))
#define NAMED(prefix, name) NAMED_(prefix, name)
#define NAMED_(prefix, name) prefix##name
#define FUNCTION(name) NAMED(PREFIX, name)
#elif defined(HIDDEN)
#define LINKAGE __attribute__((noipa, visibility("hidden")))
#define FUNCTION(name) name
#else
#define LINKAGE __attribute__((noipa))
#define FUNCTION(name) name
#endif

enum {
    HEADER_BYTES = 16,
    CLASSES = 40,
    CHUNK_BYTES = 64 << 20,
    BLOCKS = 100,
    KEPT_MAX = 10000,
    THREAD_BLOCKS = 50,
    SLOTS = 100,
};

/* --- The allocator: lists of free blocks by power of two -------------------------------------- */

struct header {
    uint32_t class;
    uint32_t off_bytes; // From the start of the block's memory.
    struct header *next;
};

static struct header *lists[CLASSES];
static unsigned char *chunk, *chunk_end;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void
acquire(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        ;
}

static void
release(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static struct header *
take(uint32_t class)
{
    size_t bytes = (size_t)1 << class;
    struct header *h = lists[class];

    if (h != NULL) {
        lists[class] = h->next;
        return h;
    }
    if ((size_t)(chunk_end - chunk) < bytes) {
        chunk = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (chunk == MAP_FAILED)
            abort();
        chunk_end = chunk + CHUNK_BYTES;
    }
    h = (struct header *)(void *)chunk;
    chunk += bytes;
    return h;
}

LINKAGE void *
FUNCTION(malloc)(size_t size_bytes)
{
    uint32_t class = 5;
    struct header *h;

    while ((size_t)1 << class < size_bytes + HEADER_BYTES)
        class++;
    acquire();
    h = take(class);
    release();
    *h = (struct header){.class = class};
    return h + 1;
}

LINKAGE void
FUNCTION(free)(void *p)
{
    struct header *h = p;

    if (p == NULL)
        return;
    h--;
    h = (struct header *)(void *)((unsigned char *)h - h->off_bytes);
    acquire();
    h->next = lists[h->class];
    lists[h->class] = h;
    release();
}

LINKAGE void *
FUNCTION(calloc)(size_t count, size_t each_bytes)
{
    void *p = FUNCTION(malloc)(count * each_bytes);

    return memset(p, 0, count * each_bytes);
}

LINKAGE void *
FUNCTION(realloc)(void *p, size_t size_bytes)
{
    void *q = FUNCTION(malloc)(size_bytes);
    struct header *h = p;
    size_t had_bytes;

    if (p == NULL)
        return q;
    had_bytes = ((size_t)1 << h[-1].class) - HEADER_BYTES;
    memcpy(q, p, had_bytes < size_bytes ? had_bytes : size_bytes);
    FUNCTION(free)(p);
    return q;
}

LINKAGE void *
FUNCTION(aligned_alloc)(size_t align, size_t size_bytes)
{
    unsigned char *p = FUNCTION(malloc)(size_bytes + align);
    struct header *from = (struct header *)(void *)p - 1;
    size_t off_bytes = (align - (uintptr_t)p % align) % align;
    struct header *to = (struct header *)(void *)(p + off_bytes) - 1;

    if (to != from)
        *to = (struct header){.class = from->class, .off_bytes = (uint32_t)off_bytes};
    return to + 1;
}

#define malloc FUNCTION(malloc)
#define free FUNCTION(free)
#define calloc FUNCTION(calloc)
#define realloc FUNCTION(realloc)
#define aligned_alloc FUNCTION(aligned_alloc)

/* --- Commands --------------------------------------------------------------------------------- */

static atomic_bool stop;
static atomic_long faults;
static void *kept[KEPT_MAX];
static size_t kept_count;


static void *
allocate_some(void *unused)
{
    for (int i = 0; i < THREAD_BLOCKS; i++)
        free(malloc(32));
    return unused;
}

static void
in_thread(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, allocate_some, NULL) != 0 || pthread_join(t, NULL) != 0)
        faults++;
}

static void
all_functions(void)
{
    unsigned char *p = calloc(3, 7), *q = aligned_alloc(64, 30);

    faults += p[20] != 0 || (uintptr_t)q % 64 != 0;
    p[20] = 9;
    p = realloc(p, 1000);
    faults += p[20] != 9;
    free(p);
    free(q);
}

static void
obey(char command)
{
    char *text;

    switch (command) {
    case 'a':
        for (size_t i = 0; i < BLOCKS && kept_count < KEPT_MAX; i++)
            kept[kept_count++] = malloc(10 + i);
        break;
    case 'f':
        while (kept_count > 0)
            free(kept[--kept_count]);
        break;
    case 'c':
        all_functions();
        break;
    case 's':
        text = strdup("twelve bytes");
        faults += strcmp(text, "twelve bytes") != 0;
        (free)(text);
        break;
    case 't':
        in_thread();
        break;
    }
}

static void *
churn(void *unused)
{
    unsigned char *blocks[SLOTS] = {NULL};
    size_t sizes[SLOTS] = {0};

    for (unsigned i = 0; !stop; i++) {
        unsigned k = i * 2654435761u >> 8;
        unsigned char **p = &blocks[k % SLOTS];
        size_t *bytes = &sizes[k % SLOTS];

        faults += *p != NULL && ((*p)[0] != k % SLOTS || (*p)[*bytes - 1] != k % SLOTS);
        *bytes = 1 + k % 3000;
        if (i % 3 == 0) {
            free(*p);
            *p = malloc(*bytes);
        } else {
            *p = realloc(*p, *bytes);
        }
        (*p)[0] = (*p)[*bytes - 1] = (unsigned char)(k % SLOTS);
    }
    for (int i = 0; i < SLOTS; i++)
        free(blocks[i]);
    return unused;
}

static void
churn_in(int threads)
{
    pthread_t t[16];
    char byte;

    for (int i = 0; i < threads && i < 16; i++)
        if (pthread_create(&t[i], NULL, churn, NULL) != 0)
            abort();
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    stop = true;
    for (int i = 0; i < threads && i < 16; i++)
        pthread_join(t[i], NULL);
}

int
main(int argc, char **argv)
{
    char command;

    if (argc > 2)
        churn_in(atoi(argv[2]));
    else
        while (read(STDIN_FILENO, &command, 1) == 1) {
            obey(command);
            faults += write(STDOUT_FILENO, &command, 1) != 1;
        }
    dprintf(STDOUT_FILENO, faults == 0 ? "ok\n" : "faults\n");
    _exit(faults != 0);
}

/* libs: -lpthread */
/* fragmented.c: resident memory of every kind, in known amounts.
 *
 *   fragmented THREADS
 *
 * Each of the threads, and main(), allocates 20,000 blocks of 2000 bytes in its arena, with a kept
 * block of 1200 bytes after every 500th, and frees all but every 4,000th block. main() also maps
 * 5 MiB without malloc, touches 1 MiB of a block of 3 MiB, and only reads 8 MiB of zeros.
 *
 * Prints "rss N", the resident bytes by the kernel's count, and "ready". After each further line of
 * input it prints a number: the bytes that malloc_trim(0) returned; those that it returned once the
 * kept blocks were freed. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCKS = 20000, BLOCK_BYTES = 2000, KEPT_EVERY = 500, KEPT_BYTES = 1200, LIVE_EVERY = 4000,
    THREADS_MAX = 16, KEPT = BLOCKS / KEPT_EVERY, MIB = 1 << 20,
};

static void *kept[THREADS_MAX + 1][KEPT];
static pthread_barrier_t made, ended;
static volatile unsigned char sink;

static size_t
resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%*u %lu", &pages) != 1)
        exit(1);
    fclose(f);
    return pages * 4096;
}

__attribute__((noinline)) static void *
keep_block(void)
{
    return memset(malloc(KEPT_BYTES), 1, KEPT_BYTES);
}

static void
fragment(size_t of)
{
    static void *blocks[THREADS_MAX + 1][BLOCKS];

    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[of][i] = memset(malloc(BLOCK_BYTES), 2, BLOCK_BYTES);
        if (i % KEPT_EVERY == KEPT_EVERY - 1)
            kept[of][i / KEPT_EVERY] = keep_block();
    }
    for (size_t i = 0; i < BLOCKS; i++)
        if (i % LIVE_EVERY != 0)
            free(blocks[of][i]);
}

static void *
thread(void *of)
{
    fragment((size_t)of);
    pthread_barrier_wait(&made);
    pthread_barrier_wait(&ended);
    return NULL;
}

static size_t
returned_by_trim(void)
{
    size_t before = resident_bytes();

    malloc_trim(0);
    return before - resident_bytes();
}

static void
map_memory(void)
{
    unsigned char *mapped = mmap(NULL, 5 * MIB, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *zeros = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *large = malloc(3 * MIB);

    madvise(zeros, 8 * MIB, MADV_NOHUGEPAGE);
    madvise(mapped, 5 * MIB, MADV_NOHUGEPAGE);
    memset(mapped, 1, 5 * MIB);
    memset(large, 1, MIB);
    for (size_t i = 0; i < 8 * MIB; i += 4096)
        sink ^= zeros[i];
}

int
main(int count, char **arguments)
{
    size_t threads = count > 1 ? strtoul(arguments[1], NULL, 10) : 0;
    pthread_t ids[THREADS_MAX];

    setvbuf(stdout, NULL, _IOLBF, 256);
    pthread_barrier_init(&made, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&ended, NULL, (unsigned)threads + 1);
    for (size_t i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, thread, (void *)(i + 1));
    pthread_barrier_wait(&made);
    fragment(0);
    map_memory();
    resident_bytes(); // The first call allocates the buffers of stdio.
    printf("rss %zu\nready\n", resident_bytes());
    getchar();
    printf("%zu\n", returned_by_trim());
    getchar();
    for (size_t i = 0; i <= threads; i++)
        for (size_t k = 0; k < KEPT; k++)
            free(kept[i][k]);
    printf("%zu\n", returned_by_trim());
    getchar();
    pthread_barrier_wait(&ended);
    for (size_t i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}

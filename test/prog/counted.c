/* cflags: -fno-builtin */
/* libs: -lpthread */
/* counted.c FILE THREADS: allocate and free in endless loops, and count in FILE, for tests that
 * kill the program.
 *
 * FILE is mapped shared and has 64 bytes for each thread: {allocations, frees, allocated bytes,
 * freed bytes} as int64, each increased directly after the call has returned. So whenever the
 * program is killed, FILE misses at most one event of each thread: an allocation in `count_alloc`,
 * or a free of such a block. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 128, THREADS_MAX = 16 };

struct count {
    volatile int64_t allocations, frees, allocated_bytes, freed_bytes;
    int64_t unused[4];
};

static struct count *counts;

__attribute__((noinline, noclone)) static void *
count_alloc(struct count *c, size_t size_bytes)
{
    void *p = malloc(size_bytes);

    c->allocations++;
    c->allocated_bytes += (int64_t)size_bytes;
    return p;
}

static void
count_free(struct count *c, void *p, size_t size_bytes)
{
    free(p);
    c->frees++;
    c->freed_bytes += (int64_t)size_bytes;
}

__attribute__((noreturn)) static void *
work(void *arg)
{
    struct count *c = arg;
    void *slots[SLOTS] = {0};
    size_t sizes[SLOTS];

    for (uint32_t i = 0;; i++) {
        uint32_t k = i * 2654435761u >> 25;

        if (slots[k] != NULL)
            count_free(c, slots[k], sizes[k]);
        sizes[k] = i % 500 + 1;
        slots[k] = count_alloc(c, sizes[k]);
    }
}

int
main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    pthread_t thread;

    if (fd < 0 || ftruncate(fd, THREADS_MAX * sizeof *counts) != 0 || threads > THREADS_MAX)
        return 2;
    counts = mmap(NULL, THREADS_MAX * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED)
        return 2;
    for (int i = 1; i < threads; i++)
        pthread_create(&thread, NULL, work, &counts[i]);
    work(&counts[0]);
}

/* scribbled.c: a busy program that verifies its memory. Four threads allocate at 2^10 places, keep
 * some blocks, and check each one's contents before they free it; the main thread loads and unloads
 * a library. security.sh writes garbage into its profile meanwhile. If it does not end with "whole"
 * and status 0, the recorder trusted data that it read back from the file.
 *
 * It works until its standard input ends.
 *
 *     scribbled LIBRARY */
/* cflags: -O1 -fno-optimize-sibling-calls */
/* libs: -lpthread -ldl */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, KEPT = 512, DEPTH = 10, OTHER_CALL = 1 << 30, BLOCK_BYTES_MAX = 4096 };

struct block {
    unsigned char *bytes;
    size_t size_bytes;
};

typedef void *plugin_fn(void);

static atomic_bool stop;

/* Allocate a block at a place, among 2^DEPTH, that the bits of PATH select. */
__attribute__((noinline)) static void *
take(unsigned path, int depth, size_t size_bytes)
{
    void *p;

    if (depth == 0)
        return malloc(size_bytes);
    if (path & 1)
        p = take(path >> 1, depth - 1, size_bytes);
    else
        p = take(path >> 1 | OTHER_CALL, depth - 1, size_bytes);
    __asm__ volatile("" ::: "memory");
    return p;
}

static void
give_back(struct block *b, unsigned char fill)
{
    for (size_t i = 0; i < b->size_bytes; i++)
        if (b->bytes[i] != fill) {
            puts("a block has changed");
            exit(1);
        }
    free(b->bytes);
}

static void *
work(void *arg)
{
    unsigned seed = *(unsigned *)arg;
    unsigned char fill = (unsigned char)seed;
    struct block kept[KEPT] = {{NULL, 0}};

    while (!atomic_load(&stop)) {
        struct block *b = &kept[rand_r(&seed) % KEPT];

        give_back(b, fill);
        b->size_bytes = (size_t)rand_r(&seed) % BLOCK_BYTES_MAX;
        b->bytes = take((unsigned)rand_r(&seed), DEPTH, b->size_bytes);
        if (b->bytes == NULL)
            exit(2);
        memset(b->bytes, fill, b->size_bytes);
    }
    for (int i = 0; i < KEPT; i++)
        give_back(&kept[i], fill);
    return NULL;
}

int
main(int argc, char **argv)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];

    if (argc != 2)
        return 2;
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        if (pthread_create(&threads[i], NULL, work, &seeds[i]) != 0)
            return 3;
    }
    while (poll(&input, 1, 0) == 0) {
        void *library = dlopen(argv[1], RTLD_NOW);
        plugin_fn *plugin;

        if (library == NULL)
            return 4;
        plugin = (plugin_fn *)(uintptr_t)dlsym(library, "plugin");
        free(plugin());
        dlclose(library);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("whole");
    return 0;
}

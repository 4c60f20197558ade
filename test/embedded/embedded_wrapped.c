/* embedded_wrapped.c: a static Linux program with threads. Its blocks are annotated as
 * embedded_wrapped_config.h configures.
 *
 * Several threads allocate, move and free at once. Then the heap must be consistent, with 100 known
 * blocks of 1,000 bytes from keep() left. With an argument, the program ends by a signal, to leave
 * a core dump. */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heaptap_embedded.h"

enum { THREADS = 4, STEPS = 20000, BLOCKS = 64, KEPT = 100, KEPT_BYTES = 1000 };

static void *volatile kept[KEPT];

static void *
embedded_wrapped_work(void *arg)
{
    unsigned seed = (unsigned)(size_t)arg;
    char *blocks[BLOCKS] = {0};

    for (unsigned i = 0; i < STEPS; i++) {
        unsigned k, size;

        seed = seed * 1103515245 + 12345;
        k = seed >> 16 & (BLOCKS - 1);
        size = 1 + (seed >> 8 & 511);
        if (blocks[k] == NULL)
            blocks[k] = seed & 64 ? malloc(size) : memalign(64, size);
        else if (seed & 32)
            blocks[k] = realloc(blocks[k], size);
        else
            free(blocks[k]), blocks[k] = NULL;
        if (blocks[k] != NULL)
            memset(blocks[k], 'x', size);
    }
    for (unsigned k = 0; k < BLOCKS; k++)
        free(blocks[k]);
    return NULL;
}

__attribute__((noinline, noclone)) static void
keep(void)
{
    for (unsigned i = 0; i < KEPT; i++)
        kept[i] = malloc(KEPT_BYTES);
}

int
main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    struct heaptap_embedded_stats before, after;
    size_t damaged;

    (void)argv;
    // Use one heap without holes, which a check can walk, and never trim it.
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_ARENA_MAX, 1);
    heaptap_embedded_get_stats(&before);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, embedded_wrapped_work, (void *)(i + 1));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    keep();
    free(strdup("the C library's own calls, too"));
    damaged = heaptap_embedded_check(NULL, NULL);
    heaptap_embedded_get_stats(&after);
    // The C library allocates and frees blocks of its own: threads' stacks, a stream's buffer.
    printf("damaged %zu %lu, unknown %lu, many %d, kept %d\n", damaged, after.damaged,
           after.unknown_frees, after.allocations - before.allocations > THREADS * STEPS / 4,
           after.live_bytes - before.live_bytes >= KEPT * KEPT_BYTES &&
               after.live_bytes - before.live_bytes < KEPT * KEPT_BYTES + 8192);
    fflush(stdout);
    if (argc > 1)
        abort();
    return 0;
}

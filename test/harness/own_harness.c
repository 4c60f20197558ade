/* own_harness.c: the recorder's side of heaptap.h under a sanitizer.
 *
 *     own_harness PROFILE TEXT
 *
 * Like harness.c, but threads use heaptap.h. They share a pool and free each other's blocks, create
 * arenas on chunks from malloc, set labels and take snapshots. Against the rules, they reset the
 * pool while others use it. The profile is written to PROFILE, the output of heaptap_write to TEXT;
 * api_harness.sh checks the sums. If this fails with a sanitizer's report, the recorder's behaviour
 * is undefined. */
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "entry/api.h"
#include "util/ensure.h"

enum { THREADS = 6, EACH = 3000, RING = 512, CHUNK_BYTES = 2000 };

void *tap_malloc(size_t size_bytes);
void tap_free(void *p);

static const struct heaptap_recorder *const r = &heaptap_recorder_v1;
static heaptap_heap *pool;
static uint64_t ring[RING]; // Blocks of the pool that one thread passes to another.

/* Create an arena on a chunk from malloc, with 5 objects. */
static void
use_arena(void)
{
    heaptap_heap *arena = r->heap_create("arena", 0);
    void *chunk = tap_malloc(CHUNK_BYTES);

    r->backing(arena, chunk, CHUNK_BYTES);
    r->alloc(arena, NULL, 3, 30);
    r->alloc(arena, chunk, 1, 5);
    r->resize(arena, chunk, chunk, 7);
    r->heap_destroy(arena);
    tap_free(chunk);
}

static void
use_label(uintptr_t i)
{
    char value[16];

    snprintf(value, sizeof value, "%d", (int)(i % 40));
    r->label("k", value);
    tap_free(tap_malloc(30));
    r->label("k", NULL);
}

static void *
own_harness_work(void *arg)
{
    uintptr_t number = (uintptr_t)arg;
    uint64_t seed = number + 1;

    heap_enter();
    for (uintptr_t i = 0; i < EACH; i++) {
        char *p = (char *)0x10000 + 16 * (number * EACH + i);
        uint64_t current;

        r->alloc(pool, p, 1, 10);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        current = __atomic_exchange_n(&ring[seed >> 55], (uint64_t)(uintptr_t)p, __ATOMIC_ACQ_REL);
        if (current != 0)
            r->release(pool, (void *)(uintptr_t)current);
        if (i % 16 == 0)
            use_arena();
        if (i % 8 == 0)
            use_label(i);
        if (i % 500 == 0)
            r->snapshot("now");
        if (i % 1000 == 0)
            r->reset(pool);
    }
    heap_leave();
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int fd;

    if (argc != 3)
        return 2;
    setenv("HEAPTAP_OUT", argv[1], 1);
    heap_start(HEAP_GLIBC);
    heap_enter();
    pool = r->heap_create("pool", 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, own_harness_work, (void *)i) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ENSURE_VALID(nodes_are_valid());
    ENSURE_VALID(peak_is_valid());
    r->reset(pool);
    fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return r->write(fd, "pprof") == 0 && close(fd) == 0 ? 0 : 1;
}

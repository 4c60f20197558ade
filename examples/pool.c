/* cflags: -O1 -g */
/* libs: -lpthread */
/* pool.c: declare a pool of equal cells as a heap, and label each cell with its tenant.
 *
 * The pool divides slabs from malloc into SLAB_CELLS cells each. The recorder counts cells, and
 * shows the slabs as the backing of the pool, with the share in use.
 *
 * Tenants: acme puts 300 items and takes back 100, globex puts 40. A worker thread puts 60 more for
 * acme, with labels passed from the main thread. All have the same stack through `put`, so only the
 * label distinguishes them:
 *
 *     heaptap run -o pool.heaptap -- pool
 *     heaptap export --format pprof pool.heaptap >pool.pb.gz; go tool pprof -tags pool.pb.gz */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "heaptap/heaptap.h"

enum { CELL_BYTES = 64, SLAB_CELLS = 128 };

union cell {
    union cell *next; /* Next free cell, while this cell is free. */
    char bytes[CELL_BYTES];
};

struct pool {
    pthread_mutex_t mutex;
    union cell *free;
    heaptap_heap *heap;
};

static void
add_slab(struct pool *pool)
{
    union cell *slab = malloc(SLAB_CELLS * sizeof *slab);
    int i;

    assert(slab != NULL);
    heaptap_backing(pool->heap, slab, SLAB_CELLS * sizeof *slab);
    for (i = 0; i < SLAB_CELLS; i++) {
        slab[i].next = pool->free;
        pool->free = &slab[i];
    }
}

/* noinline, because the pool's heap omits one frame. */
static __attribute__((noinline)) void *
pool_take(struct pool *pool)
{
    union cell *cell;

    pthread_mutex_lock(&pool->mutex);
    if (pool->free == NULL)
        add_slab(pool);
    cell = pool->free;
    pool->free = cell->next;
    pthread_mutex_unlock(&pool->mutex);
    heaptap_alloc(pool->heap, cell, 1, sizeof *cell);
    return cell;
}

static __attribute__((noinline)) void
pool_give_back(struct pool *pool, void *p)
{
    union cell *cell = p;

    /* Reported before another thread can get the cell. */
    heaptap_free(pool->heap, cell);
    pthread_mutex_lock(&pool->mutex);
    cell->next = pool->free;
    pool->free = cell;
    pthread_mutex_unlock(&pool->mutex);
}

static __attribute__((noinline)) void *
put(struct pool *pool)
{
    return pool_take(pool);
}

struct work {
    struct pool *pool;
    heaptap_labels labels;
};

static void *
worker(void *arg)
{
    struct work *work = arg;
    int i;

    heaptap_labels_set(work->labels);
    for (i = 0; i < 60; i++)
        put(work->pool);
    return NULL;
}

int
main(void)
{
    struct pool pool = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL};
    struct work work;
    pthread_t thread;
    void *items[300];
    int i;

    pool.heap = heaptap_heap_create("item pool", 1);
    heaptap_label("tenant", "globex");
    for (i = 0; i < 40; i++)
        put(&pool);
    heaptap_label("tenant", "acme");
    for (i = 0; i < 300; i++)
        items[i] = put(&pool);
    work.pool = &pool;
    work.labels = heaptap_labels_get();
    heaptap_label("tenant", NULL);
    pthread_create(&thread, NULL, worker, &work);
    pthread_join(thread, NULL);
    for (i = 0; i < 100; i++)
        pool_give_back(&pool, items[i]);
    puts("300 items");
    return 0;
}

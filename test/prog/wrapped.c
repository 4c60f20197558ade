/* cflags: -O2 -Iinclude */
/* libs: -Lbuild/test/prog -lpool -Wl,-rpath,$ORIGIN -Wl,--wrap=pool_alloc,--wrap=pool_calloc */
/* libs: -Wl,--wrap=pool_realloc,--wrap=pool_memalign,--wrap=pool_free,--wrap=local_alloc */
/* wrapped.c: an allocator under other names (libpool.c), wrapped by wrap.h at link time.
 *
 * The program contains a recorder that only counts, so that the header is tested alone. With REAL,
 * it uses the linked or preloaded recorder instead. Prints for the heap "pool"
 *
 *     heaps 1 allocations N bytes N resizes N bytes N frees N
 *
 * By function: pool_alloc 10 of 10 bytes; pool_calloc 5 of 4 x 5, whose inner calls of pool_alloc
 * are not seen; pool_memalign 3 of 30; pool_realloc 1 new of 7, resized to 70, and another of 8
 * freed by size 0; 12 pool_free, and one of NULL. A failing call of each changes nothing. So there
 * are 20 allocations of 305 bytes, 1 resize of 70 and 13 frees. In addition, there are 4 calls of
 * local_alloc for 9 bytes. local_alloc is defined in this file, so only some linkers can wrap its
 * calls. */
#include <heaptap/wrap.h>
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline, noclone))

enum { TOO_MANY_BYTES = 1 << 20 };

HEAPTAP_WRAP_HEAP(pool, "pool")
HEAPTAP_WRAP_MALLOC(pool, pool_alloc)
HEAPTAP_WRAP_CALLOC(pool, pool_calloc)
HEAPTAP_WRAP_REALLOC(pool, pool_realloc)
HEAPTAP_WRAP_MEMALIGN(pool, pool_memalign)
HEAPTAP_WRAP_FREE(pool, pool_free)

void *pool_alloc(size_t bytes);
void *pool_calloc(size_t count, size_t bytes);
void *pool_realloc(void *old, size_t bytes);
void *pool_memalign(size_t align, size_t bytes);
void pool_free(void *p);

static unsigned heaps, allocations, resizes, frees;
static size_t bytes_allocated, bytes_resized;

#ifndef REAL
struct heaptap_heap {
    const char *name;
};
static struct heaptap_heap only;

static heaptap_heap *
create(const char *name, unsigned skip_frames)
{
    only.name = name;
    heaps += skip_frames == 1;
    return &only;
}

static void
take(heaptap_heap *heap, const void *p, size_t count, size_t bytes)
{
    allocations += heap == &only && p != NULL && count == 1;
    bytes_allocated += bytes;
}

static void
resize(heaptap_heap *heap, const void *old, const void *p, size_t bytes)
{
    resizes += heap == &only && old != NULL && p != NULL;
    bytes_resized += bytes;
}

static void
end(heaptap_heap *heap, const void *p)
{
    frees += heap == &only && p != NULL;
}

const struct heaptap_recorder heaptap_recorder_v1 = {
    .version = 1,
    .size = sizeof(struct heaptap_recorder),
    .heap_create = create,
    .alloc = take,
    .resize = resize,
    .release = end,
};
#endif

/* The call is in the object that defines the function. */
HEAPTAP_WRAP_MALLOC(pool, local_alloc)
void *local_alloc(size_t bytes);

OWN void *
local_alloc(size_t bytes)
{
    static char block[100];
    static volatile int calls;

    calls++;
    return bytes <= sizeof block ? block : NULL;
}

static void *blocks[18];

OWN static void
take_blocks(void)
{
    int n = 0;

    for (int i = 0; i < 10; i++)
        blocks[n++] = pool_alloc(10);
    for (int i = 0; i < 5; i++)
        blocks[n++] = pool_calloc(4, 5);
    for (int i = 0; i < 3; i++)
        blocks[n++] = pool_memalign(64, 30);
}

OWN static void
resize_blocks(void)
{
    void *p = pool_realloc(NULL, 7), *q = pool_realloc(NULL, 8);

    p = pool_realloc(p, 70);
    q = pool_realloc(q, 0);
    if (p == NULL || q != NULL)
        exit(1);
}

OWN static void
fail(void)
{
    if (pool_alloc(TOO_MANY_BYTES) || pool_calloc(TOO_MANY_BYTES, 2) ||
        pool_memalign(16, TOO_MANY_BYTES) || pool_realloc(blocks[0], TOO_MANY_BYTES))
        exit(1);
}

OWN static void
call_local(void)
{
    for (int i = 0; i < 4; i++)
        if (local_alloc(9) == NULL)
            exit(1);
}

int
main(void)
{
    take_blocks();
    resize_blocks();
    fail();
    call_local();
    for (int i = 0; i < 12; i++)
        pool_free(blocks[i]);
    pool_free(NULL);
    printf("heaps %u allocations %u bytes %zu resizes %u bytes %zu frees %u\n", heaps, allocations,
           bytes_allocated, resizes, bytes_resized, frees);
    return 0;
}

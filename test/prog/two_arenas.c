/* cflags: -O1 -fno-inline -fno-builtin -Wno-unused-result */
/* two_arenas.c: a server with two arenas of one kind, for two tenants. Both arenas are
 * used from the same stack, so only their names distinguish them; their chunks are from
 * malloc.
 *
 *     main > serve > answer > make      per request: 64 bytes of the request arena,
 *                                       100 of the session arena, malloc(10)
 *
 * For acme 30 requests, for globex 20, for nobody 1; the request arena is emptied after
 * every tenant, so at the end it holds nobody's one request. The most is live before the
 * second emptying. tags.py has the sums. */
#include <stdlib.h>

#include "heaptap/heaptap.h"

enum { CHUNK_BYTES = 1 << 16, SESSION_BYTES = 100, REQUEST_BYTES = 64, LEAK_BYTES = 10 };

struct arena {
    heaptap_heap *heap;
    char *chunk;
    size_t used;
};

static void *volatile kept;

static void
arena_open(struct arena *a, const char *name)
{
    a->heap = heaptap_heap_create(name, 1);
    a->chunk = malloc(CHUNK_BYTES);
    a->used = 0;
    heaptap_backing(a->heap, a->chunk, CHUNK_BYTES);
}

static void *
arena_take(struct arena *a, size_t bytes)
{
    void *p = a->chunk + a->used;

    a->used += bytes;
    heaptap_alloc(a->heap, p, 1, bytes);
    return p;
}

static void
arena_empty(struct arena *a)
{
    a->used = 0;
    heaptap_reset(a->heap);
}

static void
make(struct arena *const *arenas, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kept = arena_take(arenas[i], sizes[i]);
}

static void
answer(struct arena *request, struct arena *session)
{
    struct arena *const arenas[] = {request, session};
    static const size_t sizes[] = {REQUEST_BYTES, SESSION_BYTES};

    make(arenas, sizes, 2);
    kept = malloc(LEAK_BYTES);
}

static void
serve(struct arena *request, struct arena *session, const char *tenant, int requests)
{
    heaptap_label("tenant", tenant);
    for (int i = 0; i < requests; i++)
        answer(request, session);
}

int
main(void)
{
    struct arena request, session;

    arena_open(&request, "request arena");
    arena_open(&session, "session arena");
    heaptap_label("kind", "get");
    serve(&request, &session, "acme", 30);
    arena_empty(&request);
    serve(&request, &session, "globex", 20);
    arena_empty(&request);
    heaptap_label("kind", NULL);
    serve(&request, &session, NULL, 1);
    return 0;
}

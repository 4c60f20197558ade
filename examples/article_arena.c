/* cflags: -O0 -g3 */
/* article_arena.c: a bump arena that reports its blocks to heaptap.
 *
 * The program is the example of the article "Roll your own memory profiling": main calls
 * a(2) twice and b(3) once, a allocates and calls b, b allocates. The memory comes from an
 * arena:
 *
 *     b <- a <- main    2 blocks  4 bytes
 *     a <- main         2 blocks  4 bytes
 *     b <- main         1 block   3 bytes
 *
 * Build it with the header alone, and run it under the recorder to see the callers:
 *
 *     cc -g -Iinclude examples/article_arena.c -o arena
 *     heaptap run -o arena.heaptap -- ./arena
 *     heaptap report arena.heaptap
 *
 * With a file name as its argument the program writes its own profile there, for pprof. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "heaptap/heaptap.h"

struct arena {
    char *start, *end; /* Free rest of the chunk. */
    char *chunk;
    heaptap_heap *heap;
};

static void
arena_init(struct arena *arena, const char *name, size_t bytes)
{
    /* 1: omit the frame of arena_alloc. */
    arena->heap = heaptap_heap_create(name, 1);
    arena->chunk = malloc(bytes);
    assert(arena->chunk != NULL);
    arena->start = arena->chunk;
    arena->end = arena->chunk + bytes;
    /* The chunk's bytes are counted as objects, so they must not count as malloc's as well. */
    heaptap_backing(arena->heap, arena->chunk, bytes);
}

/* noinline, so that there is a frame to omit. */
static __attribute__((noinline)) void *
arena_alloc(struct arena *arena, size_t count, size_t each_bytes)
{
    size_t bytes = count * each_bytes;
    void *p = arena->start;

    assert(bytes <= (size_t)(arena->end - arena->start));
    arena->start += bytes;
    heaptap_alloc(arena->heap, p, count, bytes);
    return p;
}

static void
arena_destroy(struct arena *arena)
{
    heaptap_heap_destroy(arena->heap);
    free(arena->chunk);
}

static void
b(struct arena *arena, size_t bytes)
{
    arena_alloc(arena, 1, bytes);
}

static void
a(struct arena *arena, size_t bytes)
{
    arena_alloc(arena, 1, bytes);
    b(arena, bytes);
}

int
main(int argc, char **argv)
{
    struct arena arena;
    int i, fd;

    arena_init(&arena, "article", 4096);
    for (i = 0; i < 2; i++)
        a(&arena, 2);
    b(&arena, 3);
    if (argc > 1) {
        fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (fd < 0 || (heaptap_is_present() && heaptap_write(fd, "pprof") != 0)) {
            perror(argv[1]);
            return 1;
        }
        close(fd);
    }
    if (argc > 2) /* Destroyed before the profile is written, so that its end is recorded. */
        arena_destroy(&arena);
    return 0;
}

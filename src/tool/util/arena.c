/* arena.c: an arena is a list of chunks. Allocations take bytes from front to back, and all chunks
 * are freed together. The first chunk is small, because chunks are cleared and many arenas hold
 * only a path or two. Further chunks have 64 KiB or more. */
#include "util/arena.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/ensure.h"

enum {
    CHUNK_BYTES = 64 * 1024,
    FIRST_CHUNK_BYTES = 4 * 1024,
    ALIGN_BYTES = 16,
    LARGE_PAGE_BYTES = 2 << 20,
    LARGE_BLOCK_BYTES = 4 << 20,
    KEPT_BYTES = 16 << 20,
};

struct arena_chunk {
    struct arena_chunk *older;
    size_t size_bytes;
};

static_assert(sizeof(struct arena_chunk) % ALIGN_BYTES == 0, "what follows a head is aligned");

static _Noreturn void
out_of_memory(size_t size_bytes)
{
    fprintf(stderr, "heaptap: out of memory (%zu bytes wanted)\n", size_bytes);
    exit(4);
}

/* Request large pages for SIZE_BYTES at P. The tables of a large profile would otherwise need tens
 * of thousands of small pages. Their page faults take a third of the time of packing. */
static void
prefer_large_pages(void *p, size_t size_bytes)
{
    uintptr_t from = round_up((uintptr_t)p, LARGE_PAGE_BYTES);
    uintptr_t to = ((uintptr_t)p + size_bytes) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;

    if (size_bytes >= LARGE_BLOCK_BYTES)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
}

void
memory_keep_freed(void)
{
    // Setting the first parameter stops glibc from adapting the second parameter, whose default is
    // small.
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
}

void *
xmalloc(size_t size_bytes)
{
    void *p = malloc(size_bytes ? size_bytes : 1);

    if (p == NULL)
        out_of_memory(size_bytes);
    prefer_large_pages(p, size_bytes);
    return p;
}

void *
xcalloc(size_t count, size_t element_bytes)
{
    void *p = calloc(count ? count : 1, element_bytes);

    if (p == NULL)
        out_of_memory(count * element_bytes);
    prefer_large_pages(p, count * element_bytes);
    return p;
}

void *
xrealloc(void *p, size_t size_bytes)
{
    p = realloc(p, size_bytes ? size_bytes : 1);
    if (p == NULL)
        out_of_memory(size_bytes);
    return p;
}

void *
arena_alloc(struct arena *a, size_t size_bytes)
{
    void *p;

    if (size_bytes > SIZE_MAX / 2)
        out_of_memory(size_bytes);
    size_bytes = round_up(size_bytes ? size_bytes : 1, ALIGN_BYTES);
    if (size_bytes > a->left_bytes) {
        size_t chunk_bytes = a->chunks == NULL ? FIRST_CHUNK_BYTES : CHUNK_BYTES;
        size_t usual = chunk_bytes - sizeof(struct arena_chunk);
        size_t room = size_bytes > chunk_bytes / 4 ? size_bytes : usual;
        struct arena_chunk *c = calloc(1, sizeof *c + room);

        if (c == NULL)
            out_of_memory(size_bytes);
        c->size_bytes = room;
        prefer_large_pages(c, room);
        if (room == size_bytes && a->chunks != NULL) {
            // Insert a large block after the newest chunk, whose free rest stays in use.
            c->older = a->chunks->older;
            a->chunks->older = c;
            return c + 1;
        }
        c->older = a->chunks;
        a->chunks = c;
        a->next = (unsigned char *)(c + 1);
        a->left_bytes = room;
    }
    p = a->next;
    a->next += size_bytes;
    a->left_bytes -= size_bytes;
    return p;
}

void *
arena_array(struct arena *a, size_t count, size_t element_bytes)
{
    size_t size_bytes;

    if (__builtin_mul_overflow(count, element_bytes, &size_bytes))
        out_of_memory(SIZE_MAX);
    return arena_alloc(a, size_bytes);
}

char *
arena_strndup(struct arena *a, const char *s, size_t length)
{
    char *copy = arena_alloc(a, length + 1);

    memcpy(copy, s, length);
    return copy;
}

char *
arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *
arena_printf(struct arena *a, const char *format, ...)
{
    va_list ap;
    char *s;

    va_start(ap, format);
    s = arena_vprintf(a, format, ap);
    va_end(ap);
    return s;
}

char *
arena_vprintf(struct arena *a, const char *format, va_list ap)
{
    va_list again;
    int length;
    char *s;

    va_copy(again, ap);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return arena_strdup(a, "");
    s = arena_alloc(a, (size_t)length + 1);
    vsnprintf(s, (size_t)length + 1, format, ap);
    return s;
}

void
arena_grow(struct arena *a, void *items, size_t *capacity, size_t count, size_t element_bytes)
{
    void **array = items;
    size_t wanted;
    void *bigger;

    if (count < *capacity)
        return;
    wanted = *capacity ? *capacity * 2 : 16;
    while (wanted <= count)
        wanted *= 2;
    bigger = arena_array(a, wanted, element_bytes);
    if (*capacity)
        memcpy(bigger, *array, *capacity * element_bytes);
    *array = bigger;
    *capacity = wanted;
}

void
arena_release(struct arena *a)
{
    struct arena_chunk *c = a->chunks;

    ENSURE_VALID(arena_is_valid(a));
    while (c != NULL) {
        struct arena_chunk *older = c->older;

        free(c);
        c = older;
    }
    *a = (struct arena){0};
}

bool
arena_is_valid(const struct arena *a)
{
    const struct arena_chunk *c = a->chunks;

    VALID(c != NULL || a->left_bytes == 0);                // Free bytes are in a chunk.
    VALID(a->left_bytes % ALIGN_BYTES == 0);               // The next allocation is aligned.
    VALID(c == NULL || a->left_bytes <= c->size_bytes);    // The rest lies in the newest chunk.
    VALID(c == NULL || a->next + a->left_bytes == (unsigned char *)(c + 1) + c->size_bytes);
    return true;
}

/* cflags: -fno-builtin */
/* libscope_carved.cc: operators that divide chunks of 64 KB into small blocks, and pass larger
 * requests to malloc. The chunks come from malloc (`more`). */
#include <new>

#include "scope.h"

enum { CHUNK = 65536, EACH = 128 };

struct piece {
    struct piece *next;
};

static struct piece *pieces;
static char *chunks[64];
static int chunk_count;

NOINLINE static void
more()
{
    char *chunk = (char *)kept(malloc(CHUNK));

    if (chunk == nullptr || chunk_count == 64)
        throw std::bad_alloc();
    chunks[chunk_count++] = chunk;
    for (int at = 0; at < CHUNK; at += EACH) {
        struct piece *p = (struct piece *)(chunk + at);

        p->next = pieces;
        pieces = p;
    }
}

void *
operator new(size_t size)
{
    struct piece *p;

    if (size > EACH)
        return kept(malloc(size));
    if (pieces == nullptr)
        more();
    p = pieces;
    pieces = p->next;
    return p;
}

void
operator delete(void *p) noexcept
{
    for (int i = 0; i < chunk_count; i++) {
        if ((char *)p >= chunks[i] && (char *)p < chunks[i] + CHUNK) {
            ((struct piece *)p)->next = pieces;
            pieces = (struct piece *)p;
            return;
        }
    }
    free(p);
}

void
operator delete(void *p, size_t) noexcept
{
    operator delete(p);
}

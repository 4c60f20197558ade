/* cflags: -fno-builtin */
/* libscope_registry.cc: operators that allocate and free further blocks. new keeps a list of
 * blocks, whose nodes are blocks as well (`remember`, 24 bytes). delete also frees blocks that were
 * deferred (`flush`). */
#include <new>

#include "scope.h"

struct node {
    void *block;
    size_t size;
    struct node *next;
};

enum { PENDING = 64 };

static struct node *nodes;
static void *pending[PENDING];
static int pending_count;

extern "C" SHOWN void
defer(void *p)
{
    if (pending_count == PENDING)
        abort();
    pending[pending_count++] = p;
}

NOINLINE static void
remember(void *p, size_t size)
{
    struct node *n = (struct node *)kept(malloc(sizeof *n));

    *n = {p, size, nodes};
    nodes = n;
}

NOINLINE static void
remove_entry(void *p)
{
    struct node **at = &nodes;
    struct node *n;

    while (*at != nullptr && (*at)->block != p)
        at = &(*at)->next;
    if ((n = *at) == nullptr) {
        say("this block is not mine\n");
        abort();
    }
    *at = n->next;
    free(n);
    __asm__ volatile("");
}

NOINLINE static void
flush()
{
    while (pending_count > 0)
        free(pending[--pending_count]);
    __asm__ volatile("");
}

void *
operator new(size_t size)
{
    void *p = kept(malloc(size != 0 ? size : 1));

    if (p == nullptr)
        throw std::bad_alloc();
    remember(p, size);
    return p;
}

void
operator delete(void *p) noexcept
{
    if (p == nullptr)
        return;
    flush();
    remove_entry(p);
    free(p);
}

void
operator delete(void *p, size_t) noexcept
{
    operator delete(p);
}

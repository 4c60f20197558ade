/* cflags: -fno-builtin */
/* libscope_past.cc: operators that call libc's allocator directly, even if another malloc comes
 * first. Each new also allocates a note of 24 bytes (`note`), which is freed with its block. Before
 * new returns, it reads two freed blocks, of 8 and 16 bytes (`look`). */
#include <new>

#include "scope.h"

extern "C" {
void *__libc_malloc(size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);
}

struct note_of {
    void *block;
    struct note_of *next;
    size_t size;
};
static_assert(sizeof(struct note_of) == 24, "the comment above states the size");

static struct note_of *notes;

NOINLINE static void
note(void *p, size_t size)
{
    struct note_of *n = (struct note_of *)kept(__libc_malloc(sizeof *n));

    *n = {p, notes, size};
    notes = n;
}

NOINLINE static void
look()
{
    __libc_free(kept(__libc_realloc(kept(__libc_malloc(8)), 16)));
    __asm__ volatile("");
}

void *
operator new(size_t size)
{
    void *p = kept(__libc_malloc(size));

    if (p == nullptr)
        throw std::bad_alloc();
    note(p, size);
    look();
    return p;
}

void
operator delete(void *p) noexcept
{
    struct note_of **at = &notes;
    struct note_of *n;

    if (p == nullptr)
        return;
    while (*at != nullptr && (*at)->block != p)
        at = &(*at)->next;
    if ((n = *at) == nullptr) {
        say("this block is not mine\n");
        abort();
    }
    *at = n->next;
    __libc_free(n);
    __libc_free(p);
}

void
operator delete(void *p, size_t) noexcept
{
    operator delete(p);
}

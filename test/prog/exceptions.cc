/* cflags: -O1 -fno-builtin-malloc -fno-optimize-sibling-calls */
/* exceptions.cc: throw C++ exceptions through frames that allocate, 300 times. `dive` recurses i %
 * 29 + 1 deep, and each level holds a block of 101 bytes from operator new. The innermost level
 * throws, main catches, and `after` allocates 20 bytes.
 *
 *     dive           4405 blocks of 101 bytes, 444905 bytes, all freed by unwinding
 *                    and under __cxa_allocate_exception 300 exceptions, all freed
 *     after          300 blocks, 6000 bytes
 *
 * 300 = 10 * 29 + 10, so the depths sum up to 10 * (29 * 30 / 2) + 10 * 11 / 2 = 4350 + 55 =
 * 4405. */
#include <cstdlib>
#include <new>
#include <stdexcept>

static void *volatile kept;

struct holder {
    char *text;
    holder() : text(static_cast<char *>(operator new(101))) {}
    ~holder() { operator delete(text); }
};

struct thrown {
    int depth;
};

__attribute__((noinline, noclone)) static int
dive(int depth)
{
    holder h;

    __asm__ volatile("" : : "r"(h.text) : "memory");
    if (depth == 1)
        throw thrown{depth};
    return dive(depth - 1) + 1;
}

__attribute__((noinline, noclone)) static void
after()
{
    kept = malloc(20);
    __asm__ volatile("" : : : "memory");
}

int
main()
{
    int caught = 0;

    for (int i = 0; i < 300; i++) {
        try {
            dive(i % 29 + 1);
        } catch (const thrown &) {
            caught++;
        }
        after();
    }
    return caught != 300;
}

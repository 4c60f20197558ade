/* cflags: -std=c++17 -O1 -fno-builtin */
/* own_operators.cc: a program that defines operator new and delete. They call malloc and free,
 * except for blocks of 777 bytes, which come from a pool. All other forms are the C++ library's,
 * which call these two.
 *
 *     scalar   100 of 4 bytes, each deleted
 *     array    100 of 10
 *     nothrow  100 of 4
 *     pooled    50 of 777, half of them by new(nothrow): none of malloc's
 *
 * Prints how often each was called. */
#include <cstdio>
#include <cstdlib>
#include <new>

#define OWN __attribute__((noinline, noclone))

enum { POOLED = 777, BLOCKS = 50, EACH = 800 };

static char pool[BLOCKS * EACH];
static int taken, news, deletes;
static void *volatile sink;

void *
operator new(std::size_t size_bytes)
{
    void *p = size_bytes == POOLED ? pool + EACH * taken++ : std::malloc(size_bytes);

    news++;
    if (p == nullptr)
        throw std::bad_alloc();
    return p;
}

void
operator delete(void *p) noexcept
{
    deletes++;
    if (p < pool || p >= pool + sizeof pool)
        std::free(p);
}

OWN static void
scalar()
{
    int *p = new int(1);

    sink = p;
    delete p;
}

OWN static void
array()
{
    char *p = new char[10];

    sink = p;
    delete[] p;
}

OWN static void
nothrow()
{
    int *p = new (std::nothrow) int(1);

    sink = p;
    delete p;
}

OWN static void
pooled(bool throws)
{
    void *p = throws ? operator new(POOLED) : operator new(POOLED, std::nothrow);

    sink = p;
    operator delete(p, std::size_t(POOLED));
}

int
main()
{
    for (int i = 0; i < 100; i++) {
        scalar();
        array();
        nothrow();
    }
    for (int i = 0; i < BLOCKS; i++)
        pooled(i % 2 == 0);
    std::printf("new %d delete %d\n", news, deletes);
    return 0;
}

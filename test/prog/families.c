/* cflags: -O1 -fno-builtin -Wno-alloc-size-larger-than */
/* families.c: call every function of the malloc family, each in a function named after it.
 *
 *     function            allocations  bytes  frees  freed  reallocations
 *     do_malloc                     3    150      2    150   malloc 100, 50, and 0 kept
 *     do_calloc                     1     84      1     84   calloc(7, 12)
 *     do_posix_memalign             1    100      1    100
 *     do_aligned_alloc              1    128      1    128
 *     do_memalign                   1     77      1     77
 *     do_valloc                     1     33      1     33
 *     do_pvalloc                    1     44      1     44   as requested, not rounded up
 *     do_reallocarray               2    160      2    160   1   (NULL, 5, 8) then (p, 10, 12)
 *     do_realloc                    4   7126      4   7126   3   realloc(NULL, 16), 7000, 100, 10
 *     do_realloc_zero               1     30      1     30       realloc(p, 0) frees
 *     do_failures                   1     20      1     20   0   failing calls change nothing
 *     all                          17   7952     16   7952   4
 *
 * musl has no pvalloc, so valloc replaces it. musl's realloc(p, 0) returns a block, so
 * do_realloc_zero has 2 allocations, 2 frees and 1 reallocation there.
 *
 * free(NULL) is called twice and is no event. The program checks errno, alignment, contents and
 * that malloc_usable_size is at least the requested size. It exits with 0 if all checks pass, else
 * with the number of the failed check. 11 calls fail, among them realloc and reallocarray of a live
 * block. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)PTRDIFF_MAX - 4096)
#define CHECK(x)                 \
    do {                         \
        if (!(x))                \
            _exit(__LINE__ % 200 + 1); \
    } while (0)
#define OWN __attribute__((noinline, noclone))
#ifndef __GLIBC__
#define pvalloc valloc
#endif

static void *kept;

static void
usable(void *p, size_t size_bytes, size_t align)
{
    CHECK(p != NULL);
    CHECK(malloc_usable_size(p) >= size_bytes);
    CHECK((uintptr_t)p % align == 0);
    memset(p, 0x5a, size_bytes);
}

OWN static void
do_malloc(void)
{
    void *p = malloc(100), *q = malloc(50);

    usable(p, 100, 16);
    usable(q, 50, 16);
    kept = malloc(0);
    CHECK(kept != NULL);
    free(p);
    free(NULL);
    free(q);
}

OWN static void
do_calloc(void)
{
    char *p = calloc(7, 12);

    for (int i = 0; i < 84; i++)
        CHECK(p[i] == 0);
    usable(p, 84, 16);
    free(p);
}

OWN static void
do_posix_memalign(void)
{
    void *p = NULL;

    CHECK(posix_memalign(&p, 256, 100) == 0);
    usable(p, 100, 256);
    free(p);
}

OWN static void
do_aligned_alloc(void)
{
    void *p = aligned_alloc(64, 128);

    usable(p, 128, 64);
    free(p);
}

OWN static void
do_memalign(void)
{
    void *p = memalign(4096, 77);

    usable(p, 77, 4096);
    free(p);
}

OWN static void
do_valloc(void)
{
    void *p = valloc(33);

    usable(p, 33, 4096);
    free(p);
}

OWN static void
do_pvalloc(void)
{
    void *p = pvalloc(44);

    usable(p, 44, 4096);
    free(p);
}

OWN static void
do_reallocarray(void)
{
    void *p = reallocarray(NULL, 5, 8);

    usable(p, 40, 16);
    p = reallocarray(p, 10, 12);
    usable(p, 120, 16);
    free(p);
}

OWN static void
do_realloc(void)
{
    char *p = realloc(NULL, 16);

    usable(p, 16, 16);
    p = realloc(p, 7000);
    for (int i = 0; i < 16; i++)
        CHECK(p[i] == 0x5a);
    p = realloc(p, 100);
    p = realloc(p, 10);
    for (int i = 0; i < 10; i++)
        CHECK(p[i] == 0x5a);
    free(p);
}

OWN static void
do_realloc_zero(void)
{
    void *p = malloc(30);

    p = realloc(p, 0);
#ifdef __GLIBC__
    CHECK(p == NULL);
#else
    CHECK(p != NULL);
    free(p);
#endif
}

#define FAILS(call, error)                  \
    do {                                    \
        errno = 0;                          \
        CHECK((call) == NULL);              \
        CHECK(errno == (error));            \
    } while (0)

OWN static void
do_failures(void)
{
    char *p = malloc(20);
    void *q = p;

    memset(p, 0x77, 20);
    FAILS(malloc(HUGE_BYTES), ENOMEM);
    FAILS(calloc(SIZE_MAX / 2, 3), ENOMEM);
    FAILS(calloc(HUGE_BYTES, 1), ENOMEM);
    FAILS(realloc(p, HUGE_BYTES), ENOMEM);
    FAILS(reallocarray(p, SIZE_MAX / 2, 3), ENOMEM);
    FAILS(aligned_alloc(64, HUGE_BYTES), ENOMEM);
    FAILS(memalign(64, HUGE_BYTES), ENOMEM);
    FAILS(valloc(HUGE_BYTES), ENOMEM);
    FAILS(pvalloc(HUGE_BYTES), ENOMEM);
    errno = 0;
    CHECK(posix_memalign(&q, 64, HUGE_BYTES) == ENOMEM);
    CHECK(posix_memalign(&q, 3, 8) == EINVAL);
    CHECK(q == p);
    for (int i = 0; i < 20; i++)
        CHECK(p[i] == 0x77);
    free(p);
    free(NULL);
}

int
main(void)
{
    errno = 0;
    do_malloc();
    do_calloc();
    do_posix_memalign();
    do_aligned_alloc();
    do_memalign();
    do_valloc();
    do_pvalloc();
    do_reallocarray();
    do_realloc();
    do_realloc_zero();
    CHECK(errno == 0);
    do_failures();
    return 0;
}

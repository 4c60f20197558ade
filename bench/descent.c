/* descent.c: implement descent.h. Three functions with frames of three sizes call one another;
 * fifty more allocate, each at a different address. */
#include <stdlib.h>

#include "descent.h"

#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noinline, noclone, noipa))
#endif
#define CHOICES 8

static int step(unsigned depth, uint32_t path, descent_fn *fn, void *context);

/* Written after the call, so that the call is not a tail call. */
static volatile int after;

FRAME static int
small(unsigned depth, uint32_t path, descent_fn *fn, void *context)
{
    int result = step(depth, path, fn, context);

    after = result;
    return result + 1;
}

FRAME static int
medium(unsigned depth, uint32_t path, descent_fn *fn, void *context)
{
    volatile char room[56];
    int result;

    room[depth % sizeof room] = (char)path;
    result = step(depth, path, fn, context);
    after = result + room[depth % sizeof room];
    return result + 2;
}

FRAME static int
large(unsigned depth, uint32_t path, descent_fn *fn, void *context)
{
    volatile char room[200];
    int result;

    room[depth % sizeof room] = (char)path;
    result = step(depth, path, fn, context);
    after = result + room[depth % sizeof room];
    return result + 3;
}

/* Inlined into the three functions, so that it adds no frame. */
__attribute__((always_inline)) static inline int
step(unsigned depth, uint32_t path, descent_fn *fn, void *context)
{
    unsigned choice = depth <= CHOICES ? (path >> 2 * depth) + depth : depth;

    if (depth <= 1)
        return fn(context);
    if (choice % 3 == 0)
        return small(depth - 1, path, fn, context);
    if (choice % 3 == 1)
        return medium(depth - 1, path, fn, context);
    return large(depth - 1, path, fn, context);
}

int
descent(unsigned depth, uint32_t path, descent_fn *fn, void *context)
{
    return small(depth, path, fn, context);
}

#define SITE(n)                                                                                    \
    FRAME static void *site_##n(size_t bytes)                                                      \
    {                                                                                              \
        void *p = malloc(bytes);                                                                   \
        after = n;                                                                                 \
        return p;                                                                                  \
    }
#define NAME(n) site_##n,
#define TEN(do, t)                                                                                 \
    do                                                                                             \
    (t##0) do(t##1) do(t##2) do(t##3) do(t##4) do(t##5) do(t##6) do(t##7) do(t##8) do(t##9)
#define FIFTY(do) TEN(do, 1) TEN(do, 2) TEN(do, 3) TEN(do, 4) TEN(do, 5)

FIFTY(SITE)

static void *(*const sites[])(size_t) = {FIFTY(NAME)};

_Static_assert(sizeof sites / sizeof sites[0] == SITE_COUNT, "as the header says");

void *
descent_malloc(unsigned site, size_t bytes)
{
    return sites[site](bytes);
}

/* cflags: -fno-builtin-malloc -fno-optimize-sibling-calls */
/* frames.c: allocate from functions with every frame layout.
 *
 *     function   frame                                       blocks  bytes
 *     plain      fixed size                                     100   1000
 *     dynamic    alloca of a size that differs every time       100   1100
 *     variable   a variable-length array                        100   1200
 *     aligned    locals aligned to 64: rsp is realigned         100   1300
 *     both       aligned to 128 and alloca                      100   1400
 *     pushed     arguments on the stack                         100   1500
 *
 * Each calls `leaf`, which allocates, so every stack is leaf <- FUNCTION <- main, 600 blocks and
 * 7500 bytes. */
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline, noclone))

enum { TIMES = 100 };

static void *volatile kept;

/* Make the compiler keep P's memory and all memory accesses before and after this call. */
static inline void
touch(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

OWN static void
leaf(size_t size_bytes)
{
    kept = malloc(size_bytes);
    touch(kept);
}

OWN static void
plain(void)
{
    char room[40];

    touch(room);
    leaf(10);
    touch(room);
}

OWN static void
dynamic(int i)
{
    char *room = alloca((size_t)i * 16 + 8);

    touch(room);
    leaf(11);
    touch(room);
}

OWN static void
variable(int i)
{
    char room[i * 8 + 1];

    touch(room);
    leaf(12);
    touch(room);
}

OWN static void
aligned(void)
{
    char room[64] __attribute__((aligned(64)));

    touch(room);
    leaf(13);
    touch(room);
}

OWN static void
both(int i)
{
    char room[128] __attribute__((aligned(128)));
    char *more = alloca((size_t)i * 24 + 1);

    touch(room);
    touch(more);
    leaf(14);
    touch(room);
}

OWN static long
pushed(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
    leaf(15);
    return a + b + c + d + e + f + g + h + i;
}

int
main(void)
{
    volatile long sum = 0;

    for (int i = 0; i < TIMES; i++) {
        plain();
        dynamic(i);
        variable(i);
        aligned();
        both(i);
        sum += pushed(1, 2, 3, 4, 5, 6, 7, 8, i);
    }
    return sum == 0;
}

/* cflags: -O1 -fno-builtin */
/* libs: -Lbuild/test/prog -lreplaced -Wl,-rpath,$ORIGIN */
/* replaced.c: a program with a private malloc of the simplest kind (libreplaced.c).
 *
 *     work     100 blocks of 20 bytes, 2000 bytes; 50 of them freed
 *     grow     1 block of 10 bytes, grown to 30 by realloc: 2 blocks, 40 bytes, 1 freed
 *     zero     5 blocks of 20 bytes by calloc
 *
 * The program's calloc and realloc call its malloc. These inner calls are not recorded: 107 blocks
 * in all. */
#include <stdlib.h>

static void *blocks[100];
static void *volatile grown;

__attribute__((noinline)) static void
work(void)
{
    for (int i = 0; i < 100; i++)
        blocks[i] = malloc(20);
    for (int i = 0; i < 100; i += 2)
        free(blocks[i]);
}

__attribute__((noinline)) static void
grow(void)
{
    grown = malloc(10);
    grown = realloc(grown, 30);
}

__attribute__((noinline)) static void
zero(void)
{
    for (int i = 0; i < 5; i++)
        grown = calloc(2, 10);
}

int
main(void)
{
    work();
    zero();
    grow();
    return grown == NULL;
}

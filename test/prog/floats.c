/* libs: -lm */
/* floats.c: allocate in a floating-point state that is not the default, and print the state
 * afterwards. By argument:
 *
 *     flags   no exception has happened yet; none may have happened afterwards
 *     trap    each exception kills the program
 *     upward  rounding upward, denormals taken for zero: estimates must not depend on it */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

enum { BLOCKS = 30000, KEPT = 500, DEPTHS = 150, FLUSH_AND_ZERO = 0x8040 };

static char *kept[KEPT];

__attribute__((noinline)) static void
allocate(int depth, int i)
{
    if (depth > 0) {
        allocate(depth - 1, i);
    } else {
        char **place = &kept[i % KEPT];

        if (i % 3 == 0)
            free(*place);
        *place = i % 3 == 0 ? malloc(1 + (size_t)i * 7 % 5000)
                            : realloc(*place, 1 + (size_t)i * 13 % 9000);
        **place = 1;
    }
    __asm__ volatile("" ::: "memory"); // Prevents a tail call.
}

int
main(int argc, char **argv)
{
    unsigned short control;

    if (argc < 2)
        return 2;
    feclearexcept(FE_ALL_EXCEPT);
    if (strcmp(argv[1], "trap") == 0)
        feenableexcept(FE_ALL_EXCEPT);
    if (strcmp(argv[1], "upward") == 0) {
        fesetround(FE_UPWARD);
        _mm_setcsr(_mm_getcsr() | FLUSH_AND_ZERO);
    }
    for (int i = 0; i < BLOCKS; i++)
        allocate(i % DEPTHS, i);
    __asm__ volatile("fnstcw %0" : "=m"(control));
    printf("exceptions %x, mxcsr %x, x87 %x\n", fetestexcept(FE_ALL_EXCEPT), _mm_getcsr(), control);
    return 0;
}

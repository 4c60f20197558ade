/* cflags: -fno-builtin-malloc -fno-optimize-sibling-calls */
/* longjmp.c: leave frames by longjmp, 500 times. `dive` recurses i % 37 + 1 deep, allocates 10
 * bytes and jumps out to main; then `after` allocates 20 bytes, where the abandoned frames were on
 * the stack.
 *
 *     bottom <- dive...  500 blocks, 5000 bytes     after <- main  500 blocks, 10000 bytes */
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf out;
static void *volatile kept;
static volatile int always = 1; // Hide from the compiler that the function never returns.

__attribute__((noinline, noclone)) static int
bottom(void)
{
    kept = malloc(10);
    if (always)
        longjmp(out, 1);
    return 0;
}

__attribute__((noinline, noclone)) static int
dive(int depth)
{
    volatile int result = depth > 1 ? dive(depth - 1) : bottom();

    return result + 1;
}

__attribute__((noinline, noclone)) static void
after(void)
{
    kept = malloc(20);
    __asm__ volatile("" : : : "memory");
}

int
main(void)
{
    for (volatile int i = 0; i < 500; i++) {
        if (setjmp(out) == 0)
            dive(i % 37 + 1);
        after();
    }
    return 0;
}

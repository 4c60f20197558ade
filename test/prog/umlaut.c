/* cflags: -fno-builtin */
/* umlaut.c: a function whose name has letters beyond ASCII allocates 10 blocks of 100 bytes. */
#include <stdlib.h>

void *gr\u00f6\u00dfe_alloc(size_t size_bytes);

__attribute__((noinline, noclone)) void *
gr\u00f6\u00dfe_alloc(size_t size_bytes)
{
    void *p = malloc(size_bytes);

    // Prevents a tail call, since the test searches for this frame.
    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}

int
main(void)
{
    for (int i = 0; i < 10; i++)
        gr\u00f6\u00dfe_alloc(100);
    return 0;
}

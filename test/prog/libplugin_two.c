/* cflags: -fno-optimize-sibling-calls */
/* libplugin_two.c: loaded and unloaded by dlclose.c at libplugin_one.so's address; allocates 20
 * bytes, three frames deep. Each frame has another size than its counterpart in libplugin_one.c. */
#include <stdlib.h>

void *plugin(void);

__attribute__((noinline)) static void *
two_innermost(void)
{
    char room[200];
    void *volatile p = malloc(20);

    __asm__ volatile("" : : "r"(room) : "memory");
    return p;
}

__attribute__((noinline)) static void *
two_inner(void)
{
    char room[72];
    void *volatile p = two_innermost();

    __asm__ volatile("" : : "r"(room) : "memory");
    return p;
}

void *
plugin(void)
{
    char room[104];
    void *volatile p = two_inner();

    __asm__ volatile("" : : "r"(room) : "memory");
    return p;
}

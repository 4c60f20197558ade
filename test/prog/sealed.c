/* cflags: -fno-builtin -O1 -g */
/* sealed.c: keep each block by one pointer, in memory that the program may not write or read any
 * more, or has excluded from dumps:
 *
 *     201 bytes  a variable in a page that mprotect made read-only
 *     202 bytes  an anonymous mapping that mprotect made read-only
 *     203 bytes  an anonymous mapping that mprotect made write-only (readable on most processors)
 *     204 bytes  an anonymous mapping without any access
 *     205 bytes  an anonymous mapping excluded from dumps; only with the argument "excluded"
 *     206 bytes  nothing: lost
 *
 * Then it says "ready" and waits for a line. With the argument "die" it aborts instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct {
    void *volatile kept;
    char rest[PAGE - sizeof(void *)];
} page __attribute__((aligned(PAGE))) = {(void *)1, ""};

__attribute__((noinline)) static void
keep(void *volatile *at, size_t bytes)
{
    *at = malloc(bytes);
}

__attribute__((noinline)) static void
keep_mapped(size_t bytes, int protection)
{
    void *volatile *map =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    keep(map, bytes);
    mprotect((void *)map, PAGE, protection);
}

__attribute__((noinline)) static void
keep_excluded(void)
{
    void *volatile *map =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise((void *)map, PAGE, MADV_DONTDUMP);
    keep(map, 205);
}

/* Overwrite the stack, where copies of the pointers may be. */
__attribute__((noinline)) static void
scrub(void)
{
    volatile char b[2 * PAGE];

    for (size_t i = 0; i < sizeof b; i++)
        b[i] = 0;
}

int
main(int count, char **arguments)
{
    void *volatile lost;

    setvbuf(stdout, NULL, _IONBF, 0);
    keep(&page.kept, 201);
    mprotect(&page, PAGE, PROT_READ);
    keep_mapped(202, PROT_READ);
    keep_mapped(203, PROT_WRITE);
    keep_mapped(204, PROT_NONE);
    keep(&lost, 206);
    lost = NULL;
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "excluded") == 0)
            keep_excluded();
    scrub();
    if (count > 1 && strcmp(arguments[count - 1], "die") == 0)
        abort();
    puts("ready");
    return read(0, &(char){0}, 1) < 0; // stdin's buffer would be another block.
}

/* bad_frees.c: free pointers that are not live. The allocator must ignore such frees, as libbump
 * does; the C library kills the program at the first one.
 *
 *     twice      make() allocates 10 blocks of 40 bytes; drop() frees each, then again() frees it
 *     foreign    outside() frees static memory 7 times
 *     moved      move() calls realloc for a freed block
 *
 * bad_frees MODE runs one mode. bad_frees all runs all modes, then forks a child, and prints the
 * child's status. In inherit, the child frees 5 blocks of its parent, and a new block twice. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static _Alignas(16) char memory[4096];

OWN static void *
make(size_t size_bytes)
{
    void *volatile p = malloc(size_bytes);

    return p;
}

OWN static void
drop(void *volatile p)
{
    free(p);
    __asm__ volatile("# first"); // Keeps the compiler from merging the two functions.
}

OWN static void
again(void *volatile p)
{
    free(p);
    __asm__ volatile("# second");
}

OWN static void
twice(void)
{
    for (int i = 0; i < 10; i++) {
        void *p = make(40);

        drop(p);
        again(p);
    }
}

OWN static void
outside(void)
{
    for (int i = 0; i < 7; i++) {
        void *volatile p = memory + 512 * i + 16;

        free(p);
    }
}

OWN static void
move(void)
{
    void *p = make(300);
    void *volatile q;

    drop(p);
    q = realloc(p, 600);
    drop(q);
}

OWN static void
inherit(void **blocks)
{
    for (int i = 0; i < 5; i++)
        free(blocks[i]);
    twice();
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "all";
    bool all = strcmp(mode, "all") == 0;
    int status = 0;
    void *blocks[5];

    if (all || strcmp(mode, "twice") == 0)
        twice();
    if (all || strcmp(mode, "foreign") == 0)
        outside();
    if (all || strcmp(mode, "moved") == 0)
        move();
    if (!all)
        return 0;
    for (int i = 0; i < 5; i++)
        blocks[i] = make(80);
    if (fork() == 0) {
        inherit(blocks);
        _exit(3);
    }
    wait(&status);
    return dprintf(1, "%d\n", WEXITSTATUS(status)) < 0;
}

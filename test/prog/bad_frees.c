/* bad_frees.c: frees of pointers that are not live. Its allocator must ignore them (libbump does);
 * the C library's kills the program at the first one.
 *
 *     twice      10 blocks of 40 bytes from make, each freed by drop, then again by again: 10
 *     foreign    7 frees of static memory in outside
 *     moved      1 realloc of a block that has been freed, in move
 *
 * bad_frees MODE runs one mode. bad_frees all runs all modes, then forks a child that frees 5
 * blocks inherited from its parent in inherit and frees a new block twice. Prints the child's
 * status. */
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
    __asm__ volatile("# first"); // Without this the two functions would be merged into one.
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

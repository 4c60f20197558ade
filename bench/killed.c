/* killed.c: allocate blocks, print the process id, and wait to be killed; see survival.py.
 *
 *     killed BLOCKS */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile kept;

int
main(int argc, char **argv)
{
    long blocks = argc == 2 ? atol(argv[1]) : 0;

    for (long i = 0; i < blocks; i++)
        kept = malloc(32);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}

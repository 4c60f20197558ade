/* places.c: access memory wherever the kernel may put it, with up to 32 bits of randomness. Each
 * argument is an address where the program maps a page and writes to it. Then it writes 7 times to
 * a block of 112 bytes. With "fork", only a child does the latter. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

static int
touch(uintptr_t address)
{
    volatile char *p = mmap((void *)address, 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (p == MAP_FAILED)
        return 0; // Another mapping exists there already, which is fine.
    if (p != (void *)address)
        return 1;
    for (int i = 0; i < 4096; i++)
        p[i] = 1;
    return 0;
}

int
main(int argc, char **argv)
{
    volatile char *p;

    if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        if (fork() != 0)
            return wait(NULL) < 0;
        argc = 1;
    }
    for (int i = 1; i < argc; i++)
        if (touch(strtoul(argv[i], NULL, 16)))
            return 2;
    kept = malloc(112);
    p = kept;
    for (int i = 0; i < 7; i++)
        p[0] = 1;
    return 0;
}

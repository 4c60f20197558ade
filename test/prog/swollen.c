/* swollen.c [KIND]: allocate 48 MiB by malloc, or as KIND says, and keep them for a while.
 *
 *     malloc   48,000 blocks of 1,000 bytes, and half of them freed again
 *     small    a million blocks of 1 byte, which the allocator rounds up to many times that
 *     file     48 MiB of a mapped file, read
 *     stack    48 MiB of stack
 *     map      48 MiB of anonymous memory, mapped
 *
 * own_malloc.sh links it with different allocators, and checks the final message of `heaptap run`
 * about this memory. */
/* cflags: -fno-builtin -O1 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { COUNT = 48000, EACH = 1000, SMALL = 1000000, ALL = 48 << 20 };

static void *volatile blocks[COUNT], *volatile smalls[SMALL];

static void
stay(void)
{
    usleep(400000);
}

__attribute__((noinline)) static void
take(void)
{
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc(EACH);
        memset((void *)blocks[i], 1, EACH);
    }
    stay();
    for (int i = 0; i < COUNT; i += 2)
        free(blocks[i]);
}

__attribute__((noinline)) static void
take_small(void)
{
    for (int i = 0; i < SMALL; i++)
        smalls[i] = malloc(1);
    stay();
}

static void
map(int flags, int fd)
{
    unsigned char *p = mmap(NULL, ALL, PROT_READ | PROT_WRITE, flags, fd, 0);

    if (p == MAP_FAILED)
        exit(1);
    for (int i = 0; i < ALL; i += 4096)
        p[i]++;
    stay();
}

__attribute__((noinline)) static void
pile(int left)
{
    volatile char here[1 << 20];

    for (int i = 0; i < 1 << 20; i += 4096)
        here[i] = (char)left;
    if (left > 0)
        pile(left - 1);
    else
        stay();
    here[1] = here[0];
}

static void
stack(char **argv)
{
    struct rlimit room = {(rlim_t)2 * ALL, (rlim_t)2 * ALL};

    if (getenv("SWOLLEN_AGAIN") == NULL) { // The limit applies to programs started afterwards.
        setrlimit(RLIMIT_STACK, &room);
        setenv("SWOLLEN_AGAIN", "1", 1);
        execv(argv[0], argv);
    }
    free(malloc(100));
    pile(ALL >> 20);
}

int
main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "malloc";
    FILE *file;

    if (strcmp(kind, "malloc") == 0)
        take();
    else if (strcmp(kind, "small") == 0)
        take_small();
    else if (strcmp(kind, "stack") == 0)
        stack(argv);
    else if (strcmp(kind, "map") == 0)
        map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    else if ((file = tmpfile()) != NULL && ftruncate(fileno(file), ALL) == 0)
        map(MAP_SHARED, fileno(file));
    write(1, "done\n", 5);
    return 0;
}

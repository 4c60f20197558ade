/* cflags: -O0 */
/* overflows.c: write out of bounds of a block, as the arguments request, and print its owner.
 *
 *     overflows SEED KIND BYTES [free|realloc|wait|crash]
 *
 * Eight functions allocate 64 blocks of random sizes in random order, and some are freed. Then
 * BYTES of 0x41 are written past the end of one block, the culprit (end), before its beginning
 * (start), past its end where the next block in memory has been freed (freed), or over its
 * neighbour and into the block after that (across). The program prints the name of the function
 * that allocated the culprit. Then it frees all blocks (free), allocates another each tenth of a
 * second until a line comes (wait), or ends by SIGSEGV (crash). */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, SIZE_MAX_ = 300 };

#define OWNER(name)                                                                                \
    __attribute__((noinline)) static void *name(size_t size)                                       \
    {                                                                                              \
        void *volatile p = malloc(size);                                                           \
        return p;                                                                                  \
    }
OWNER(owner_a)
OWNER(owner_b)
OWNER(owner_c)
OWNER(owner_d)
OWNER(owner_e)
OWNER(owner_f)
OWNER(owner_g)
OWNER(owner_h)

static const struct {
    const char *name;
    void *(*allocate)(size_t);
} owners[] = {{"owner_a", owner_a}, {"owner_b", owner_b}, {"owner_c", owner_c},
              {"owner_d", owner_d}, {"owner_e", owner_e}, {"owner_f", owner_f},
              {"owner_g", owner_g}, {"owner_h", owner_h}};

static struct {
    unsigned char *p;
    size_t size;
    int owner;
} blocks[BLOCKS];
static int by_address[BLOCKS];

static int
compare(const void *a, const void *b)
{
    const unsigned char *x = blocks[*(const int *)a].p, *y = blocks[*(const int *)b].p;

    return x < y ? -1 : x > y;
}

static void
allocate_all(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i].size = 1 + (size_t)rand() % SIZE_MAX_;
        blocks[i].owner = rand() % 8;
        blocks[i].p = owners[blocks[i].owner].allocate(blocks[i].size);
        memset(blocks[i].p, 0x11, blocks[i].size);
        by_address[i] = i;
    }
    qsort(by_address, BLOCKS, sizeof *by_address, compare);
}

/* Free block I in the order of addresses. */
static void
drop(int i)
{
    free(blocks[by_address[i]].p);
    blocks[by_address[i]].p = NULL;
}

int
main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[2] : "end", *then = argc > 4 ? argv[4] : "free";
    size_t bytes = argc > 3 ? (size_t)atoi(argv[3]) : 1;
    int place, culprit;

    srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    allocate_all();
    // The culprit is in the middle, so that it has neighbours.
    place = 8 + rand() % (BLOCKS - 16);
    culprit = by_address[place];
    for (int i = 0; i < BLOCKS; i++)
        if ((i < place - 2 || i > place + 3) && rand() % 4 == 0)
            drop(i);
    if (strcmp(kind, "freed") == 0)
        drop(place + 1);
    if (strcmp(kind, "start") == 0)
        memset(blocks[culprit].p - bytes, 0x41, bytes);
    else if (strcmp(kind, "across") == 0)
        memset(blocks[culprit].p + blocks[culprit].size, 0x41,
               (size_t)(blocks[by_address[place + 1]].p - blocks[culprit].p) -
                   blocks[culprit].size + blocks[by_address[place + 1]].size + bytes);
    else
        memset(blocks[culprit].p + blocks[culprit].size, 0x41, bytes);
    setvbuf(stdout, malloc(BUFSIZ), _IOLBF, BUFSIZ);
    printf("%s\n", owners[blocks[culprit].owner].name);
    fflush(stdout);
    if (strcmp(then, "crash") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(then, "wait") == 0) {
        struct pollfd line = {.fd = 0, .events = POLLIN};

        while (poll(&line, 1, 20) == 0)
            free(malloc(10));
        return 0;
    } else if (strcmp(then, "realloc") == 0) {
        blocks[culprit].p = realloc(blocks[culprit].p, 1000);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i].p);
    return 0;
}

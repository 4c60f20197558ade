/* cflags: -fno-builtin -O0 -g */
/* foreign_sbrk.c: takes memory by sbrk between blocks of malloc, twice, so that the main heap has
 * three parts. Keeps 100 blocks of 700 bytes in each part, and loses 7 blocks of 900 bytes in the
 * last one. Says "ready" and waits for a line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 3, KEPT = 100, LOST = 7, TAKEN_BYTES = 5000 };

static void *kept[PARTS * KEPT];

static void
keep_part(int part)
{
    for (int i = 0; i < KEPT; i++)
        kept[part * KEPT + i] = malloc(700);
}

/* Take memory that looks like chunks for some bytes, until the heap has grown behind it. */
static void
take(void)
{
    uint64_t *words = sbrk(TAKEN_BYTES);

    memset(words, 0, TAKEN_BYTES);
    for (int i = 0; i < 100; i++)
        words[i] = 0x31;
    // Blocks of this size do not fit behind the last ones.
    for (int i = 0; i < 4; i++)
        free(malloc(100 << 10));
}

static void
lose(void)
{
    for (int i = 0; i < LOST; i++)
        memset(malloc(900), 0, 900);
}

static void
wipe(void)
{
    volatile char bytes[32 << 10];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
    (void)bytes[0];
}

int
main(void)
{
    char c;

    for (int part = 0; part < PARTS; part++) {
        keep_part(part);
        if (part + 1 < PARTS)
            take();
        else
            lose();
    }
    wipe();
    if (write(1, "ready\n", 6) != 6 || read(0, &c, 1) < 0)
        return 1;
    return 0;
}

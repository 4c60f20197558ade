/* cflags: -fno-builtin -O0 -g */
/* core_aborts.c: damage the heap in one way, then make malloc detect the damage and abort.
 *
 *   core_aborts WAY
 *
 * culprit() allocates one block. neighbour() allocates the block in front of it, and other() all
 * other blocks. The culprit's block is the one that malloc returns next, or the last one before
 * unused memory. */
#include <stdlib.h>
#include <string.h>

enum { SMALL = 100, LARGE = 2000, EACH = 10, CACHED = 7 };

static void *kept[2 * EACH];
static size_t kept_count;
static char *block;

static void
other(size_t size)
{
    for (int i = 0; i < EACH; i++)
        kept[kept_count++] = malloc(size);
}

static void *
neighbour(size_t size)
{
    return malloc(size);
}

static void *
culprit(size_t size)
{
    return malloc(size);
}

/* Return the word of the chunk at P that holds its size. */
static size_t *
word(void *p)
{
    return (size_t *)p - 1;
}

static void
set_up(size_t size)
{
    other(size);
    neighbour(size);
    block = culprit(size);
    other(size);
}

static void
free_all(size_t size)
{
    set_up(size);
    for (int i = 0; i < 2 * EACH; i++)
        free(kept[i]);
}

/* Make the wrong call of free that WAY names. */
static void
free_wrongly(const char *way)
{
    size_t size = strncmp(way, "small", 5) == 0 ? SMALL : LARGE;

    set_up(size);
    if (strstr(way, "overflow") != NULL)
        memset(block, 'A', size + 40);
    else if (strstr(way, "word") != NULL)
        *word(block) = 0x19;
    else if (strstr(way, "zeroed") != NULL)
        *word(block) = 0;
    else if (strstr(way, "ones") != NULL)
        *word(block) = ~(size_t)0;
    else if (strstr(way, "beyond") != NULL)
        *word(block) |= 0x1000000;
    else if (strstr(way, "unused") != NULL)
        *word(kept[EACH]) &= ~(size_t)1;
    else if (strstr(way, "twice") != NULL)
        free(block);
    if (strstr(way, "realloc") != NULL)
        block = realloc(block, 3 * size);
    else
        free(strstr(way, "inside") != NULL ? block + 8 : block);
}

/* Free a block of the fast bins twice. */
static void
free_fast(void)
{
    void *cached[CACHED];

    for (int i = 0; i < CACHED; i++)
        cached[i] = neighbour(24);
    block = culprit(24);
    for (int i = 0; i < CACHED; i++)
        free(cached[i]);
    free(block);
    free(block);
}

int
main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "";

    if (strcmp(way, "fast twice") == 0) {
        free_fast();
    } else if (strcmp(way, "top") == 0) {
        other(LARGE);
        block = culprit(LARGE);
        memset(block, 'C', LARGE + 40);
        block = malloc(64 * LARGE);
    } else if (strcmp(way, "itself") == 0) {
        free_all(SMALL);
        abort();
    } else {
        free_wrongly(way);
    }
    return 0;
}

/* serve_steps.c: memory that changes by known amounts, one step for each line on standard input. */
/* cflags: -O0 -g */
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 1000, BLOCK_BYTES = 1000, HELD_BYTES = 5000 };

static void *blocks[BLOCKS];

static void
grow(void)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(BLOCK_BYTES);
}

static void
shrink(void)
{
    for (int i = 0; i < BLOCKS / 2; i++)
        free(blocks[i]);
}

static void *
hold(void)
{
    return malloc(HELD_BYTES);
}

static void
say(const char *what)
{
    puts(what);
    fflush(stdout);
    getchar();
}

int
main(void)
{
    void *held = hold();

    setvbuf(stdin, NULL, _IONBF, 0);
    say("held");
    grow();
    say("grown");
    shrink();
    say("shrunk");
    free(held);
    return 0;
}

/* cflags: -O1 -fno-inline -fno-builtin -fno-optimize-sibling-calls */
/* own_writer.c: write the program's profile to standard output, and print the result on standard
 * error.
 *
 *     own_writer FORMAT [named]
 *
 * Before that, it allocates 3 blocks of 1000 bytes by malloc and frees the last. In a heaptap heap,
 * it allocates 200 objects of 10 bytes, resets the heap, and allocates 200 again, each on another
 * stack. With "named", a function of a made-up language is on the stack all the time. A handler of
 * SIGUSR1 allocates and frees. Nothing else allocates. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heaptap/heaptap.h"
#include "heaptap/language.h"

static void *volatile kept;
static unsigned function;

static size_t
frames(struct heaptap_frame *to, size_t max)
{
    if (max > 0)
        to[0] = (struct heaptap_frame){.id = function};
    return 1;
}

static const struct heaptap_language language = {
    .size = sizeof language, .name = "Made-up", .frames = frames};

static void
on_signal(int number)
{
    (void)number;
    free(malloc(7));
}

/* 8 turns, left or right, make 256 stacks. */
static void
turn(heaptap_heap *heap, unsigned way, int turns)
{
    if (turns == 0) {
        heaptap_alloc(heap, NULL, 1, 10);
    } else if (way & 1) {
        turn(heap, way >> 1, turns - 1);
        kept = NULL;
    } else {
        turn(heap, way >> 1, turns - 1);
        __asm__ volatile("" ::: "memory");
    }
}

int
main(int argc, char **argv)
{
    heaptap_heap *heap = heaptap_heap_create("writer", 0);
    const char *result = "-1\n";

    if (argc == 3 && strcmp(argv[2], "named") == 0) {
        function = heaptap_frame_name("handle", "server.made", 17, "Made-up");
        heaptap_language_add(&language);
    }
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 3; i++)
        kept = malloc(1000);
    free(kept);
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            heaptap_reset(heap);
        for (unsigned way = 0; way < 200; way++)
            turn(heap, way, 8);
    }
    if (argc >= 2 && heaptap_write(STDOUT_FILENO, argv[1]) == 0)
        result = "0\n";
    return write(STDERR_FILENO, result, strlen(result)) > 0 ? 0 : 1;
}

/* slow_events.c: make few allocations, with a pause after each.
 *
 *     slow_events BURST EVENTS BYTES PAUSE_MS
 *
 * First allocates and frees BURST small blocks. Then allocates EVENTS blocks of BYTES each, which
 * stay live, and pauses PAUSE_MS after each. So live bytes are N * BYTES during the Nth pause. */
#include <stdlib.h>
#include <time.h>

static void *volatile kept;

__attribute__((noinline)) static void
keep(size_t bytes)
{
    kept = malloc(bytes);
}

int
main(int argc, char **argv)
{
    long numbers[4] = {0};
    struct timespec pause;

    for (int i = 1; i < argc && i <= 4; i++)
        numbers[i - 1] = atol(argv[i]);
    pause = (struct timespec){numbers[3] / 1000, numbers[3] % 1000 * 1000000};
    for (long i = 0; i < numbers[0]; i++) {
        kept = malloc(64);
        free(kept);
    }
    for (long i = 0; i < numbers[1]; i++) {
        keep((size_t)numbers[2]);
        nanosleep(&pause, NULL);
    }
    return 0;
}

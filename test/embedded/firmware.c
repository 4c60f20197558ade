/* firmware.c: a program as on a device: tasks that keep blocks. At the end, its memory is read out.
 *
 * The blocks at the end are known: the article's eight blocks of a size plus and minus one from one
 * function, one large block from another, and two tasks with one-byte blocks. With OVERFLOW defined
 * at build time, the program writes past the end of a block.
 *
 * It is built for a Cortex-M without an operating system (firmware_board.c) and as a program for
 * Linux (firmware_linux.c). Both end by writing the memory from firmware_ram on to a file. */
#include "firmware.h"

#include "heaptap_embedded.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { SAMPLES = 8, SAMPLE_BYTES = 1024, LOG_BYTES = 8192, TASKS = 2, MESSAGES = 64 };

uintptr_t firmware_ticks;

static unsigned char *volatile samples[SAMPLES];
static void *volatile log_buffer;
static void *volatile messages[TASKS][MESSAGES];

NOINLINE static unsigned char *
make_sample(unsigned size)
{
    unsigned char *sample = heaptap_embedded_malloc(size);

    sample[0] = 1;
    return sample;
}

NOINLINE static void
start_sensors(void)
{
    for (unsigned i = 0; i < SAMPLES; i++)
        samples[i] = make_sample(i % 2 ? SAMPLE_BYTES - 1 : SAMPLE_BYTES + 1);
}

NOINLINE static void
start_log(void)
{
    log_buffer = heaptap_embedded_calloc(1, LOG_BYTES);
}

NOINLINE static void
receive(unsigned task)
{
    for (unsigned i = 0; i < MESSAGES; i++) {
        void *volatile passing = heaptap_embedded_malloc(24);

        messages[task][i] = heaptap_embedded_malloc(1);
        heaptap_embedded_free(passing);
    }
}

NOINLINE static void
run_first_task(void)
{
    receive(0);
    messages[0][0] = messages[0][0]; // Prevents a tail call.
}

NOINLINE static void
run_second_task(void)
{
    receive(1);
    messages[1][0] = messages[1][0];
}

int
firmware_run(void)
{
    start_sensors();
    start_log();
    run_first_task();
    run_second_task();
#ifdef OVERFLOW
    for (unsigned i = 0; i < 5; i++)
        samples[3][SAMPLE_BYTES - 1 + i] = 0;
#endif
    return 0;
}

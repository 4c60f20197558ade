/* heap_info.c: allocate blocks for which every field of an ACCESS record is known
 * (docs/internals/access.md lists the fields); heap_info.py has the expected values.
 *
 * Prints "cpus A B", the two processors that it has run on. For each event whose time is checked,
 * it prints "NAME ns" before and after the event, by the monotonic clock. */
/* cflags: -g */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

struct record {
    uint64_t key, value;
    char name[80];
};

static void *volatile kept; // Volatile, so that the accesses are not optimised away.
static cpu_set_t all;

static void
moment(const char *name)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%s %lld\n", name, (long long)now.tv_sec * 1000000000 + now.tv_nsec);
}

/* Return the COUNTth processor, from 0, that this process may run on; the last one if there are
 * fewer. */
static int
cpu_number(int count)
{
    int last = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            last = cpu;
            if (count-- == 0)
                break;
        }
    return last;
}

static void
run_on(int count)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu_number(count), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        abort();
}

static NOINLINE struct record *
new_record(void)
{
    struct record *r = malloc(sizeof *r);

    kept = r;
    return kept;
}

/* Allocate three blocks from one site and free them:
 *
 *     block    accesses    allocated on    freed on
 *     r[0]     10          cpu 1           cpu 0
 *     r[1]     20          cpu 0           cpu 0
 *     r[2]     30          cpu 0           cpu 1
 *
 * r[2] lives while r[1] does. */
static NOINLINE void
records(void)
{
    struct record *r[3];

    // The loop has one call, so all blocks have one stack.
    for (volatile int turn = 0; turn < 3; turn++) {
        int i = turn;

        run_on(i == 0 ? 1 : 0);
        moment("before_alloc"); // Only the last block counts.
        r[i] = new_record();
        moment("after_alloc");
        for (int k = 0; k < 10 * (i + 1); k++)
            ((volatile char *)r[i])[i == 2 ? 16 + k : i * 8] = 1;
        usleep(3000);
        if (i == 0) {
            run_on(0);
            free(r[0]);
            usleep(3000);
        }
    }
    free(r[1]);
    usleep(30000);
    run_on(1);
    moment("before_free");
    free(r[2]);
    moment("after_free");
}

/* Allocate 512 bytes, then 1024 at the same place. The first is half used and lives 40 ms, the
 * second is used as a whole and lives 10 ms. */
static NOINLINE void
sizes(void)
{
    for (int i = 0; i < 2; i++) {
        size_t size = i == 0 ? 512 : 1024, used = i == 0 ? 256 : 1024;
        volatile uint64_t *p = malloc(size);

        for (size_t k = 0; k < used / 8; k++)
            p[k] = k;
        usleep(i == 0 ? 40000 : 10000);
        free((void *)p);
    }
}

/* Allocate 2048 bytes that are live at the end, on the first cpu, with 7 accesses. */
static NOINLINE void
lives(void)
{
    volatile char *p;

    run_on(0);
    moment("before_live");
    p = malloc(2048);
    moment("after_live");
    for (int i = 0; i < 7; i++)
        p[i] = 1;
    kept = (void *)p;
}

int
main(void)
{
    static char buffer[4096]; // These lines go through write(), so that stdio allocates nothing.

    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    sched_getaffinity(0, sizeof all, &all);
    printf("cpus %d %d\n", cpu_number(0), cpu_number(1));
    records();
    sizes();
    lives();
    return 0;
}

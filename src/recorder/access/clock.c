/* clock.c: converts cycles to microseconds.
 *
 * The kernel maintains the number of the cpu in a word of each thread (rseq), if libc has
 * registered it; glibc does since 2.35. Otherwise the instruction rdtscp returns both time and cpu,
 * in the format that Linux configures.
 *
 * The duration of a cycle is measured against the clock. A first estimate comes from some
 * microseconds at the start. The measurement is repeated whenever the elapsed time has doubled, so
 * the estimate soon has more digits than needed. Blocks that are merged in the meantime use the
 * present estimate. */
#include "access/clock.h"

#include <sys/syscall.h>
#include <time.h>

#include "base/atomics.h"
#include "platform/sys.h"

enum { FIRST_NS = 20000, USUAL_NS_PER_TICK = 100 };
#define CALIBRATE_AFTER_TICKS_MAX (UINT64_C(1) << 26) // Some seconds.

/* Defined by glibc: offset of a thread's struct rseq, if it has one. Weak, because other libcs lack
 * it. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));  // NOLINT: libc's name
extern const unsigned int __rseq_size __attribute__((weak)); // NOLINT: libc's name

enum { RSEQ_CPU_OFF = 4 }; // Offset of cpu_id in struct rseq. As a signed number, cpu_id is
                           // negative if rseq is not registered.

/* Return the time of the precise clock; 0 = the system call is forbidden. */
static uint64_t
clock_ns(void)
{
    struct timespec t = {0};

    if (sys_is_quiet())
        return 0;
    arch_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Return ELAPSED_NS / TICKS in microseconds, times 2^32. Uses integers, because the program could
 * observe an exception of floating-point arithmetic. */
static uint64_t
us_per_tick(uint64_t elapsed_ns, uint64_t ticks)
{
    uint64_t divisor = ticks * 1000;

    for (; divisor >> 32 != 0; divisor >>= 1)
        elapsed_ns >>= 1;
    return ((elapsed_ns / divisor) << 32) + ((elapsed_ns % divisor) << 32) / divisor;
}

void
clock_calibrate(struct cycle_clock *c, uint64_t ticks)
{
    uint64_t now_ns = clock_ns();

    store_relaxed(&c->next_calibration,
                  ticks + (ticks < CALIBRATE_AFTER_TICKS_MAX ? ticks : CALIBRATE_AFTER_TICKS_MAX));
    ticks = (arch_cycles() - c->start) >> CLOCK_TICK_SHIFT;
    if (now_ns > c->start_ns && ticks > 0)
        store_relaxed(&c->us_per_tick, us_per_tick(now_ns - c->start_ns, ticks));
}

void
clock_start(struct cycle_clock *c)
{
    uint64_t since_ns = clock_ns();

    if (&__rseq_size != NULL && &__rseq_offset != NULL && __rseq_size != 0)
        c->cpu_off = (uint64_t)__rseq_offset + RSEQ_CPU_OFF;
    c->start_ns = since_ns;
    c->start = arch_cycles();
    c->us_per_tick = ((uint64_t)USUAL_NS_PER_TICK << 32) / 1000;
    while (since_ns != 0 && clock_ns() - since_ns < FIRST_NS)
        continue;
    clock_calibrate(c, 1);
}

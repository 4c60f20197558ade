/* clock.h: reads time and cpu in few instructions, because every block records both. */
#ifndef ACCESS_CLOCK_H
#define ACCESS_CLOCK_H

#include "platform/arch_x86_64.h"

/* Time and cpu share one word. The low bits contain the cpu. The bits above contain the time since
 * recording began, in ticks of 2^CLOCK_TICK_SHIFT cycles. */
enum { CLOCK_CPU_BITS = 12, CLOCK_TICK_SHIFT = 8 };

struct cycle_clock {
    uint64_t start; // Value of the cycle counter at the start.
    // Offset from the thread pointer to the kernel's word with the cpu number; 0 = none.
    uint64_t cpu_off;
    uint64_t us_per_tick; // Duration of a tick, in units of 2^-32 us.
    uint64_t next_calibration; // Time of the next comparison with the clock, in ticks.
    uint64_t start_ns;
};

/* Initialise C and take a first measurement. */
void clock_start(struct cycle_clock *c);

/* Measure the duration of a cycle against the clock again. */
void clock_calibrate(struct cycle_clock *c, uint64_t ticks);

static inline uint64_t
clock_now(const struct cycle_clock *c)
{
    uint32_t cpu = UINT32_MAX;
    uint64_t now;

    if (unlikely(arch_cycles_forbidden))
        return 0;
    if (likely(c->cpu_off != 0))
        cpu = *(const volatile uint32_t *)(arch_thread_pointer() + c->cpu_off);
    // This is twice as fast as rdtscp, which also returns the cpu. A negative cpu number means
    // unknown.
    now = likely((int32_t)cpu >= 0) ? __builtin_ia32_rdtsc() : __builtin_ia32_rdtscp(&cpu);
    now = (now - c->start) >> CLOCK_TICK_SHIFT;
    return now << CLOCK_CPU_BITS | (cpu & ((1u << CLOCK_CPU_BITS) - 1));
}

static inline uint32_t
clock_cpu(uint64_t time)
{
    return time & ((1u << CLOCK_CPU_BITS) - 1);
}

/* Convert TIME to microseconds since recording began. */
static inline uint64_t
clock_us(struct cycle_clock *c, uint64_t time)
{
    uint64_t ticks = time >> CLOCK_CPU_BITS;

    if (unlikely(ticks > c->next_calibration))
        clock_calibrate(c, ticks);
    return (uint64_t)((unsigned __int128)ticks * c->us_per_tick >> 32);
}

#endif

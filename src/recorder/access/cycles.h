/* cycles.h: time and cpu in few instructions, because every block records both. */
#ifndef ACCESS_CYCLES_H
#define ACCESS_CYCLES_H

#include "platform/arch_x86_64.h"

/* A moment in one word: the time in ticks of 2^CYCLES_SHIFT cycles since recording began, and below
 * it the cpu. */
enum { CYCLES_CPU_BITS = 12, CYCLES_SHIFT = 8 };

struct cycles {
    uint64_t start; // Cycle counter at the start.
    // Offset from the thread pointer of the kernel's word with the cpu number; 0 = none.
    uint64_t cpu_off;
    uint64_t us_per_tick; // In units of 2^-32.
    uint64_t next_look; // In ticks: time of the next comparison with the clock.
    uint64_t start_ns;
};

/* Initialise C and take a first measurement. */
void cycles_start(struct cycles *c);

/* Measure the cycle against the clock again. */
void cycles_look(struct cycles *c, uint64_t ticks);

static inline uint64_t
cycles_now(const struct cycles *c)
{
    uint32_t cpu = UINT32_MAX;
    uint64_t now;

    if (unlikely(arch_cycles_forbidden))
        return 0;
    if (likely(c->cpu_off != 0))
        cpu = *(const volatile uint32_t *)(arch_thread_pointer() + c->cpu_off);
    // Twice as fast as the instruction that returns the cpu as well. A negative cpu is unknown.
    now = likely((int32_t)cpu >= 0) ? __builtin_ia32_rdtsc() : __builtin_ia32_rdtscp(&cpu);
    now = (now - c->start) >> CYCLES_SHIFT;
    return now << CYCLES_CPU_BITS | (cpu & ((1u << CYCLES_CPU_BITS) - 1));
}

static inline uint32_t
cycles_cpu(uint64_t moment)
{
    return moment & ((1u << CYCLES_CPU_BITS) - 1);
}

/* Convert MOMENT to microseconds since recording began. */
static inline uint64_t
cycles_us(struct cycles *c, uint64_t moment)
{
    uint64_t ticks = moment >> CYCLES_CPU_BITS;

    if (unlikely(ticks > c->next_look))
        cycles_look(c, ticks);
    return (uint64_t)((unsigned __int128)ticks * c->us_per_tick >> 32);
}

#endif

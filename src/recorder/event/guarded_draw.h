/* guarded_draw.h: calls the functions of draw.h in any floating-point state of the program, and
 * preserves this state. Equal arguments give equal results. */
#ifndef EVENT_GUARDED_DRAW_H
#define EVENT_GUARDED_DRAW_H

#include "platform/arch_x86_64.h"
#include "sampling/draw.h"

static inline struct draw_mode
guarded_draw_mode(uint64_t mode, uint64_t period)
{
    uint32_t floats = arch_floats_begin();
    struct draw_mode result = draw_mode(mode, period);

    arch_floats_end(floats);
    return result;
}

static inline int64_t
guarded_draw_distance(const struct draw_mode *mode, uint64_t *random)
{
    uint32_t floats = arch_floats_begin();
    int64_t result = draw_distance(mode, random);

    arch_floats_end(floats);
    return result;
}

static inline bool
guarded_draw_rounds_up(const struct draw_mode *mode, uint64_t size_bytes, uint64_t *random)
{
    uint32_t floats = arch_floats_begin();
    bool result = draw_rounds_up(mode, size_bytes, random);

    arch_floats_end(floats);
    return result;
}

static inline struct draw_weight
guarded_draw_weight(const struct draw_mode *mode, uint64_t size_bytes, bool rounded_up)
{
    uint32_t floats = arch_floats_begin();
    struct draw_weight result = draw_weight(mode, size_bytes, rounded_up);

    arch_floats_end(floats);
    return result;
}

#endif

/* draw.h: the arithmetic of sampling; pure functions. docs/internals/sampling.md has the
 * mathematics.
 */
#ifndef SAMPLING_DRAW_H
#define SAMPLING_DRAW_H

#include "base/base.h"

/* A way of choosing blocks, as the hot path wants it. */
struct draw_way {
    uint32_t mode;   // enum disk_mode.
    uint64_t period; // As in struct disk_phase.
    double mean;     // Of the distance between two points, in units of charge.
    uint64_t mask;   // As tls.charge_mask.
    int64_t poll;    // The longest way between two looks, in units of charge.
};

/* What one sample stands for. */
struct draw_weight {
    uint64_t blocks;                        // 1 / p, rounded up or down at random.
    uint64_t bytes;                         // size / p.
    double blocks_variance, bytes_variance; // What it adds to the estimates of the variance.
    double blocks_unit, bytes_unit;         // Blocks and bytes per point of the draw.
};

/* May blocks be chosen that way? */
bool draw_is_valid(uint64_t mode, uint64_t period);

/* The way of choosing blocks by MODE and PERIOD, which are valid. */
struct draw_way draw_way(uint64_t mode, uint64_t period);

/* What a block of SIZE_BYTES is charged. */
static inline uint64_t
draw_charge(uint64_t size_bytes, uint64_t mask)
{
    return (size_bytes & mask) | 1;
}

/* The next word of the generator RANDOM. */
uint64_t draw_random(uint64_t *random);

/* How much charge goes by without a sample before the next one, at the generator RANDOM. */
int64_t draw_distance(const struct draw_way *way, uint64_t *random);

/* Is 1 / p to be rounded up? To be asked once, when a block of SIZE_BYTES is sampled. */
bool draw_rounds_up(const struct draw_way *way, uint64_t size_bytes, uint64_t *random);

/* The weight of a block of SIZE_BYTES that was sampled in WAY: always the same for the same
 * arguments, so that a free takes away what the allocation added. */
struct draw_weight draw_weight(const struct draw_way *way, uint64_t size_bytes,
                               bool rounded_up);

/* The natural logarithm of X, which is positive and normal. */
double draw_log(double x);

/* 1 - exp(-X) for X >= 0. */
double draw_share(double x);

#endif

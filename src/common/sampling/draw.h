/* draw.h: the arithmetic of sampling; pure functions. docs/internals/sampling.md has the
 * mathematics.
 */
#ifndef SAMPLING_DRAW_H
#define SAMPLING_DRAW_H

#include "base/base.h"

/* A recording mode, precomputed for the fast path. */
struct draw_mode {
    uint32_t mode;   // enum disk_mode.
    uint64_t period; // Mode and period, as in struct disk_phase.
    double mean;     // Mean distance between two points, in units of charge.
    uint64_t mask;   // As in tls.charge_mask.
    int64_t poll;    // The longest distance between two polls, in units of charge.
};

/* The weight of one sample. */
struct draw_weight {
    uint64_t blocks;                        // 1 / p, rounded up or down at random.
    uint64_t bytes;                         // size / p.
    double blocks_variance, bytes_variance; // The sample's contribution to the estimated variance.
    double blocks_unit, bytes_unit;         // Blocks and bytes that one point of the draw
                                            // represents.
};

/* Return true if MODE and PERIOD form a valid recording mode. */
bool draw_is_valid(uint64_t mode, uint64_t period);

/* Return the precomputed form of MODE and PERIOD, which must be valid. */
struct draw_mode draw_mode(uint64_t mode, uint64_t period);

/* Return the charge of a block of SIZE_BYTES. */
static inline uint64_t
draw_charge(uint64_t size_bytes, uint64_t mask)
{
    return (size_bytes & mask) | 1;
}

/* Advance the generator *RANDOM and return its next word. */
uint64_t draw_random(uint64_t *random);

/* Draw the charge up to the next sample from the generator *RANDOM, and return it. */
int64_t draw_distance(const struct draw_mode *mode, uint64_t *random);

/* Return true, at random, if 1 / p is to be rounded up. Call once, when a block of SIZE_BYTES is
 * sampled, and store the result for draw_weight. */
bool draw_rounds_up(const struct draw_mode *mode, uint64_t size_bytes, uint64_t *random);

/* Return the weight of a sampled block of SIZE_BYTES, recorded in MODE. Equal arguments give equal
 * weights, so a free subtracts exactly the amount that the allocation added. */
struct draw_weight draw_weight(const struct draw_mode *mode, uint64_t size_bytes,
                               bool rounded_up);

/* Return the natural logarithm of X, which must be positive and normal. */
double draw_log(double x);

/* Return 1 - exp(-X) for X >= 0. */
double draw_share(double x);

#endif

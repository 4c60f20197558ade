/* descent.h: stacks of a known depth, and many allocating places, for the bench's programs.
 *
 * A compiler must not shorten these stacks: no call is a tail call and nothing is inlined, so DEPTH
 * calls are DEPTH frames with different layouts. */
#ifndef BENCH_DESCENT_H
#define BENCH_DESCENT_H

#include <stddef.h>
#include <stdint.h>

enum { SITE_COUNT = 50 };

/* Function to call at the bottom. */
typedef int descent_fn(void *context);

/* Call FN below DEPTH frames; the bits of PATH select the functions of the innermost 8. The result
 * is meaningless; it prevents tail calls. */
int descent(unsigned depth, uint32_t path, descent_fn *fn, void *context);

/* Call malloc() from the place with the number SITE, which is below SITE_COUNT. */
void *descent_malloc(unsigned site, size_t bytes);

/* Return the next number of a sequence that is the same in every run. */
static inline uint64_t
descent_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

#endif

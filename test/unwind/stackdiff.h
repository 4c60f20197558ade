/* stackdiff.h: what the workload of the differential unwinder test and its walkers share. */
#ifndef TEST_UNWIND_STACKDIFF_H
#define TEST_UNWIND_STACKDIFF_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Walk the stack of the caller four ways and compare. Nothing happens outside a thread that is
 * sampling, nor within itself. */
void diff_sample(void);

/* From here on this thread samples; its stack is [low, high). */
void diff_begin(uint64_t low, uint64_t high);

/* This thread stops sampling. */
void diff_stop(void);

/* Use other bounds (coroutines, alternate stacks) until they are put back. */
struct diff_bounds {
    uint64_t low, high;
};
struct diff_bounds diff_set_bounds(struct diff_bounds bounds);

/* After dlclose: forget what was compiled for addresses that mean something else now. */
void diff_flush(void);

/* One round of everything the workload knows; SEED varies its depths and sizes. */
void workload_round(unsigned seed);
void workload_cxx(unsigned seed);

#ifdef __cplusplus
}
#endif

#endif

/* stackdiff.h: shared by the workload of the differential unwinder test and its walkers. */
#ifndef TEST_UNWIND_STACKDIFF_H
#define TEST_UNWIND_STACKDIFF_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Walk the stack of the caller five ways and compare. Does nothing outside a thread that is
 * sampling, or when called recursively. */
void diff_sample(void);

/* From here on this thread samples; its stack is [low, high). */
void diff_begin(uint64_t low, uint64_t high);

/* This thread stops sampling. */
void diff_stop(void);

/* Use other bounds (coroutines, alternate stacks) until they are restored. */
struct diff_bounds {
    uint64_t low, high;
};
struct diff_bounds diff_set_bounds(struct diff_bounds bounds);

/* After dlclose: drop the rules compiled for addresses that hold other code now. */
void diff_flush(void);

/* How a walk ended. */
enum walk_end {
    END_WHOLE,
    END_NO_TABLE,
    END_BAD,
    END_LIMIT,
};

/* A stack, innermost frame first. */
struct diff_stack {
    unsigned count;
    enum walk_end end;
    const uint64_t *pc;
    const bool *exact; // Interrupted at this pc.
};

/* stackdiff_recorder.c: once; for each thread that samples; after dlclose. */
void recorder_start(void);
void recorder_begin(void);
void recorder_stop(void);
void recorder_flush(void);

/* Return true if the recorder's stack behind the call whose return address is in SLOT, with the
 * caller's RBP, equals WANTED. */
bool recorder_agrees(uint64_t slot, uint64_t rbp, const struct diff_stack *wanted);

/* Print the counts; false if nothing was tested, or rules were not used. */
bool recorder_report(void);

/* One round of the whole workload; SEED varies its depths and sizes. */
void workload_round(unsigned seed);
void workload_cxx(unsigned seed);

#ifdef __cplusplus
}
#endif

#endif

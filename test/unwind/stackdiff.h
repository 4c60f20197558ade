/* stackdiff.h: shared by the workload of the differential unwinder test and its walkers. */
#ifndef TEST_UNWIND_STACKDIFF_H
#define TEST_UNWIND_STACKDIFF_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Walk the stack of the caller with all walkers and compare. Does nothing in a thread that is not
 * sampling, or when called recursively. */
void diff_sample(void);

/* Start sampling in this thread; its stack is [low, high). */
void diff_begin(uint64_t low, uint64_t high);

/* Stop sampling in this thread. */
void diff_stop(void);

/* Set other bounds, for a coroutine or an alternate stack, until the previous ones are restored. */
struct diff_bounds {
    uint64_t low, high;
};
struct diff_bounds diff_set_bounds(struct diff_bounds bounds);

/* After dlclose, drop the rules compiled for its addresses, which may now hold other code. */
void diff_flush(void);

/* Reason why a walk ended. */
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
    // True if the frame was interrupted at this pc, which is then no return address.
    const bool *exact;
};

/* stackdiff_recorder.c: call recorder_start once, recorder_begin and recorder_stop in each thread
 * that samples, and recorder_flush after dlclose. */
void recorder_start(void);
void recorder_begin(void);
void recorder_stop(void);
void recorder_flush(void);

/* Return true if the recorder's stack behind the call whose return address is in SLOT, with the
 * caller's RBP, equals WANTED. */
bool recorder_agrees(uint64_t slot, uint64_t rbp, const struct diff_stack *wanted);

/* Print the counts. Return false if nothing was tested, or rules were not used. */
bool recorder_report(void);

/* Run the workload once; SEED varies its depths and sizes. */
void workload_round(unsigned seed);
void workload_cxx(unsigned seed);

#ifdef __cplusplus
}
#endif

#endif

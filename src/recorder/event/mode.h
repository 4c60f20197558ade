/* mode.h: stores the present recording mode and changes it; see mode.c. */
#ifndef EVENT_MODE_H
#define EVENT_MODE_H

#include "format/format.h"
#include "platform/limits.h"
#include "sampling/draw.h"

/* Credit of a thread at the start of exact mode; each call lowers it by one. */
#define MODE_EXACT_CREDIT (INT64_MIN / 2)

/* The present recording mode. Constant across fork: a child made by fork continues in the same
 * mode. */
struct sample {
    uint32_t mode;             // Atomic: enum disk_mode of the present mode.
    uint32_t change;           // Atomic: incremented at the start and at each change of the mode; 0
                               // before the start.
    uint32_t present;          // Atomic: index of the present mode in `modes`.
    bool known;                // True after the environment was read.
    uint64_t begin_ns, end_ns; // Clock times at which recording begins and stops; 0 = never.
    struct draw_mode wanted;   // The user's choice, in force from begin_ns on,
    uint32_t wanted_callers;   // and its index in `callers`.
    struct draw_mode modes[LIMIT_MODES];
    // By index in `modes`: index in `callers`.
    uint8_t callers_of[LIMIT_MODES];
    // Select the allocations with whole stacks. The first selects all; the others never change
    // after callers_count, which is atomic, includes them.
    struct draw_mode callers[DISK_CALLERS_PERIODS + 1];
    uint32_t callers_count;
};
extern struct sample sample __attribute__((visibility("hidden")));

/* Read the user's choice and write it to the profile. Call before the first event. */
void mode_start(void);

/* Adopt the present recording mode if the thread has not adopted it yet. Call from a thread that is
 * in the recorder. */
void mode_adopt(void);

/* Return the index in sample.callers for one allocation in PERIOD, added if it is new; 0 is the
 * index for all. Return false if PERIOD is invalid, or if there are too many. Only one thread at a
 * time may call this. */
bool mode_callers(uint64_t period, uint32_t *ret_callers);

/* Switch to recording mode MODE, with whole stacks by sample.callers[CALLERS]. Return the answer to
 * the request. Only one thread at a time may call this: see request.c. */
enum disk_answer mode_change(const struct draw_mode *mode, uint32_t callers);

#endif

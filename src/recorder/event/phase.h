/* phase.h: the present way of recording; see phase.c. */
#ifndef EVENT_PHASE_H
#define EVENT_PHASE_H

#include "format/format.h"
#include "platform/limits.h"
#include "sampling/draw.h"

/* In exact mode a thread's credit starts there and falls by one a call. */
#define PHASE_EXACT_CREDIT (INT64_MIN / 2)

/* Process constants: a child made by fork goes on in the same way. */
struct sample {
    uint32_t mode;             // Atomic, enum disk_mode: of the present phase.
    uint32_t change;           // Atomic: rises with each new phase and at the start; 0 before.
    uint32_t present;          // Atomic: index into phases.
    bool known;                // The environment has been read.
    uint64_t begin_ns, end_ns; // By the clock: when to begin and to stop recording; 0 = never.
    struct draw_phase wanted;  // What begins then.
    struct draw_phase phases[LIMIT_PHASES];
};
extern struct sample sample;

/* Before the first event: find out what is wanted, and write it into the profile. */
void phase_start(void);

/* Take the present phase over, unless that is done. For a thread that is in the recorder. */
void phase_adopt(void);

/* Begin PHASE; what that answers to a request. By one thread at a time: request.c. */
enum disk_answer phase_change(const struct draw_phase *phase);

#endif

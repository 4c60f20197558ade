/* mode.h: the present recording mode; see mode.c. */
#ifndef EVENT_MODE_H
#define EVENT_MODE_H

#include "format/format.h"
#include "platform/limits.h"
#include "sampling/draw.h"

/* In exact mode a thread's credit starts here and falls by one per call. */
#define MODE_EXACT_CREDIT (INT64_MIN / 2)

/* Process constants: a child made by fork continues in the same way. */
struct sample {
    uint32_t mode;             // Atomic, enum disk_mode: the present way's.
    uint32_t change;           // Atomic: rises with each new way, and at the start; 0 before.
    uint32_t present;          // Atomic: index into ways.
    bool known;                // The environment has been read.
    uint64_t begin_ns, end_ns; // By the clock: when recording begins and stops; 0 = never.
    struct draw_mode wanted;   // The user's choice, in force from begin_ns on.
    struct draw_mode modes[LIMIT_MODES];
};
extern struct sample sample;

/* Before the first event: read the user's choice and write it to the profile. */
void mode_start(void);

/* Adopt the present recording mode, unless that is done. Call from a thread that is in the
 * recorder. */
void mode_adopt(void);

/* Record in WAY from now on. Return the answer to a request. One thread at a time: request.c. */
enum disk_answer mode_change(const struct draw_mode *mode);

#endif

/* way.h: the present way of recording; see way.c. */
#ifndef EVENT_WAY_H
#define EVENT_WAY_H

#include "format/format.h"
#include "platform/limits.h"
#include "sampling/draw.h"

/* In exact mode a thread's credit starts there and falls by one a call. */
#define WAY_EXACT_CREDIT (INT64_MIN / 2)

/* Process constants: a child made by fork goes on in the same way. */
struct sample {
    uint32_t mode;             // Atomic, enum disk_mode: of the present way of recording.
    uint32_t change;           // Atomic: rises with each new way, and at the start; 0 before.
    uint32_t present;          // Atomic: index into ways.
    bool known;                // The environment has been read.
    uint64_t begin_ns, end_ns; // By the clock: when to begin and to stop recording; 0 = never.
    struct draw_way wanted;    // What begins then.
    struct draw_way ways[LIMIT_WAYS];
};
extern struct sample sample;

/* Before the first event: find out what is wanted, and write it into the profile. */
void way_start(void);

/* Take the present way of recording over, unless that is done. For a thread that is in the
 * recorder. */
void way_adopt(void);

/* Record in WAY from now on; what that answers to a request. By one thread at a time: request.c. */
enum disk_answer way_change(const struct draw_way *way);

#endif

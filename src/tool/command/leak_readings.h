/* leak_readings.h: unreachable blocks of a process in several readings. */
#ifndef COMMAND_LEAK_READINGS_H
#define COMMAND_LEAK_READINGS_H

#include "view/memory_view.h"

struct lost_block;

/* Zero before the first reading. */
struct leak_readings {
    struct lost_block *v; // Unreachable blocks of the latest reading, by address.
    size_t count;
    uint32_t readings;
    uint64_t recovered; // As in struct lost_history.
};

/* Add the unreachable blocks of E, by the search ANSWER. If RET is not NULL, store the findings of
 * all readings in it; its array is from ARENA. */
void leak_readings_add(struct leak_readings *r, const struct examined *e,
                       const struct memory_answer *answer, struct arena *arena,
                       struct lost_history *ret);

void leak_readings_release(struct leak_readings *r);

#endif

/* distance.h: random distances between a thread's samples. */
#ifndef EVENT_DISTANCE_H
#define EVENT_DISTANCE_H

#include "sampling/draw.h"

/* Return the charge of the calling thread up to the next sample in MODE. */
int64_t distance_draw(const struct draw_mode *mode);

#endif

/* inside.h: determine by unwinding whether a thread of another process is inside a region. */
#ifndef ATTACH_INSIDE_H
#define ATTACH_INSIDE_H

#include "attach/stop.h"

/* The unwinder of one process. */
struct inside;

/* Read the modules of process PID. Return NULL on failure. The caller calls inside_close. */
struct inside *inside_open(uint32_t pid);
void inside_close(struct inside *w);

/* Return true if the frames of thread TID are known up to the outermost, and none is in the
 * COUNT RANGES. We must have stopped the thread. */
bool inside_is_not(struct inside *w, uint32_t tid, const struct word_range *ranges, size_t count);

#endif

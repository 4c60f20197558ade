/* limit.h: limits on address space that come after the start; see limit.c. */
#ifndef ACCOUNT_LIMIT_H
#define ACCOUNT_LIMIT_H

#include "base/base.h"

/* Recording starts: give reservations back when the kernel refuses the recorder memory. */
void limit_start(void);

/* The program has limited its address space to LIMIT_BYTES; UINT64_MAX = not at all. Signal-safe;
 * waits a bounded while for threads that grow a table. Also for a quiet process. */
void limit_follow(uint64_t limit_bytes);

/* NOW_NS have elapsed: read the limit, at most once in a millisecond, and follow it if it has
 * become less. A stack that cannot grow ends the program, so waiting for a failure would be too
 * late. In an event. */
void limit_look(uint64_t now_ns);

/* An allocation of SIZE_BYTES has failed. Returns true if a limit on address space may be why and
 * the recorder has given some back now, so that a second attempt may succeed. Leaves errno alone;
 * signal-safe; waits as limit_follow does. */
bool limit_gives_back(uint64_t size_bytes);

#endif

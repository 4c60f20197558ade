/* limit.h: follows limits on address space that are set after the start; see limit.c. */
#ifndef ACCOUNT_LIMIT_H
#define ACCOUNT_LIMIT_H

#include "base/base.h"

/* Register limit_gives_back for allocations that the kernel refuses the recorder. Call when
 * recording starts. */
void limit_start(void);

/* Handle a new limit of LIMIT_BYTES on the program's address space; UINT64_MAX = unlimited.
 * Async-signal-safe. Waits a bounded time for threads that grow a table. May be called in a quiet
 * process. */
void limit_follow(uint64_t limit_bytes);

/* Read the limit at time NOW_NS, at most once in a millisecond, and follow it if it has fallen.
 * Waiting for a failed allocation would be too late, because a stack that cannot grow ends the
 * program. Call in an event. */
void limit_poll(uint64_t now_ns);

/* Handle a failed allocation of SIZE_BYTES. Return true if a limit on address space may be the
 * cause and the recorder has unmapped memory, so that a second attempt may succeed. Preserves
 * errno. Async-signal-safe; waits like limit_follow. */
bool limit_gives_back(uint64_t size_bytes);

#endif

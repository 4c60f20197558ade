/* limit.h: reacts to limits on address space that are set after the start; see limit.c. */
#ifndef ACCOUNT_LIMIT_H
#define ACCOUNT_LIMIT_H

#include "base/base.h"

/* Register limit_gives_back as the handler for failed allocations of the recorder. Call when
 * recording starts. */
void limit_start(void);

/* React to a new limit of LIMIT_BYTES on the program's address space; UINT64_MAX = unlimited.
 * Async-signal-safe. Waits a bounded time for threads that grow a table. May be called in a quiet
 * process. */
void limit_follow(uint64_t limit_bytes);

/* Read the limit at time NOW_NS, at most once in a millisecond, and react if it has fallen.
 * Reacting only to a failed allocation would be too late: if the stack cannot grow, the program
 * ends. Call in an event. */
void limit_poll(uint64_t now_ns);

/* Handle a failed allocation of SIZE_BYTES. Return true if a limit on address space may be the
 * cause and the recorder has unmapped memory, so that a second attempt may succeed. Preserves
 * errno. Async-signal-safe; waits like limit_follow. */
bool limit_gives_back(uint64_t size_bytes);

#endif

/* fork_child.h: handles a fork in a signal handler that has interrupted the recorder. */
#ifndef EVENT_FORK_CHILD_H
#define EVENT_FORK_CHILD_H

#include <sys/types.h>

#include "base/base.h"

/* Call the C library's FORK_FUNCTION, and let the child finish the event that the handler has
 * interrupted. Requires REENTRY_IN_RECORDER. */
pid_t fork_child_fork(pid_t (*fork_function)(void));

/* Return true if the process stays off: it is not recorded, or it is the child of such a fork and
 * still in the interrupted event or in its handler. In the latter case, count the caller's event as
 * lost. Return false after that event: recording can then start again. Requires READY_OFF. */
bool fork_child_waits(void);

/* Add the events that the child has lost so far to its profile, which has just been created. */
void fork_child_report(void);

#endif

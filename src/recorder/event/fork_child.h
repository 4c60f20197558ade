/* fork_child.h: fork in a signal handler that has interrupted the recorder. */
#ifndef EVENT_FORK_CHILD_H
#define EVENT_FORK_CHILD_H

#include <sys/types.h>

#include "base/base.h"

/* Call the C library's FORK_FUNCTION so that the child can finish the event that the handler has
 * interrupted. Requires REENTRY_IN_RECORDER. */
pid_t fork_child_fork(pid_t (*fork_function)(void));

/* Return true if this is the child of such a fork, still in the interrupted event or in its
 * handler; counts the caller's event as lost. Return false once the event is over: recording starts
 * anew. */
bool fork_child_waits(void);

/* Add the events that an orphan has lost to its profile, which has just begun. */
void fork_child_report(void);

#endif

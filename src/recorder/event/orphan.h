/* orphan.h: fork in a signal handler that has interrupted the recorder. */
#ifndef EVENT_ORPHAN_H
#define EVENT_ORPHAN_H

#include <sys/types.h>

#include "base/base.h"

/* Call the C library's FORK, so that the child can finish what the handler has interrupted. Only
 * when tls.busy is BUSY_RECORDER. */
pid_t orphan_fork(pid_t (*fork_function)(void));

/* Is this the child of such a fork, still at the interrupted event or in its handler? Then the
 * event that asks is counted; false once the event has been left: recording starts anew. */
bool orphan_waits(void);

/* Put the events that an orphan has lost into its profile, which has just begun. */
void orphan_report(void);

#endif

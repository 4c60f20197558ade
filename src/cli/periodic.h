/* periodic.h: asking all processes of a run for a snapshot, every so often. */
#ifndef CLI_PERIODIC_H
#define CLI_PERIODIC_H

#include "base/base.h"

/* Begin to ask the processes of the session ID, whose profiles are in the COUNT directories of
 * DIRECTORIES (copied; they may not exist), every PERIOD_NS. Once in a process. */
void periodic_start(uint64_t id, const char *const *directories, size_t count, uint64_t period_ns);

/* No more. Nothing if it was never started. */
void periodic_stop(void);

#endif

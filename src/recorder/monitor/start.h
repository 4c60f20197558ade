/* start.h: the beginning of recording in this process. */
#ifndef MONITOR_START_H
#define MONITOR_START_H

#include "base/base.h"

/* Start recording unless that has been done: true when this process records. Never blocks: while
 * another thread is starting, events are lost and counted. Called with tls.busy set and
 * signals blocked. */
bool start_recording(void);

#endif

/* guard.h: keeps the program alive when pages of the profile disappear. */
#ifndef EVENT_GUARD_H
#define EVENT_GUARD_H

#include "base/base.h"

/* Install the handlers for SIGBUS, to guard this process's mapped file, and for the snapshot
 * signal. Install each handler only if the program leaves the signal at its default. */
void guard_start(void);

/* Call guard_start for the owner of the memory after a guest (platform/process.h) has started
 * recording. If the caller is a guest, have no effect and return false. */
bool guard_install_pending(void);

#endif

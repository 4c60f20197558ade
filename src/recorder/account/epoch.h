/* epoch.h: the number that counters compare to detect that they must save their values; see
 * epoch.c. Both functions are thread-safe and async-signal-safe. */
#ifndef ACCOUNT_EPOCH_H
#define ACCOUNT_EPOCH_H

#include "base/base.h"

/* Raise the epoch. First store the new value in *ANNOUNCED, the header's peak_epoch or
 * snapshot_epoch, which identifies the reason. */
void epoch_raise(uint64_t *announced);

/* Complete an epoch_raise in which another thread was interrupted, because that thread may never
 * resume. */
void epoch_finish_raise(void);

#endif

/* epoch.h: the number by which counters tell what they have not been saved for; see epoch.c. Both
 * may be called by any thread and in signal handlers. */
#ifndef ACCOUNT_EPOCH_H
#define ACCOUNT_EPOCH_H

#include "base/base.h"

/* Raise the epoch for what ANNOUNCED stands for, the header's peak_epoch or snapshot_epoch, which
 * gets that epoch first. */
void epoch_raise(uint64_t *announced);

/* Do for a thread that was interrupted in epoch_raise, and may never come back, what is left to do
 * there. */
void epoch_finish_raise(void);

#endif

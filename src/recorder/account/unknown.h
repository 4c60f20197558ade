/* unknown.h: frees of what is not live, with their stacks. */
#ifndef ACCOUNT_UNKNOWN_H
#define ACCOUNT_UNKNOWN_H

#include "account/thread.h"

/* Make the table when recording starts. False without memory. */
bool unknown_start(void);

/* Count T's free of P, which is not live, from the stack NODE. SITE is where a block that was at P
 * had been allocated, 0 if there was none. */
void unknown_count(struct thread *t, enum disk_free_kind kind, uint32_t node, uint32_t site,
                   const void *p);

#endif

/* unknown_frees.h: counts frees of blocks that are not live, with their stacks. */
#ifndef ACCOUNT_UNKNOWN_FREES_H
#define ACCOUNT_UNKNOWN_FREES_H

#include "account/thread.h"

/* Create the table when recording starts. Return false if memory is exhausted. */
bool unknown_frees_start(void);

/* Count T's free of P, which is not live, from the stack NODE. SITE is the allocation site of the
 * block that was last at P; 0 = none. */
void unknown_frees_count(struct thread *t, enum disk_free_kind kind, uint32_t node, uint32_t site,
                         const void *p);

#endif

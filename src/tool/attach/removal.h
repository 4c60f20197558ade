/* removal.h: remove an attached recorder from a process. */
#ifndef ATTACH_REMOVAL_H
#define ATTACH_REMOVAL_H

#include "attach/attach_how.h"
#include "attach/region.h"

/* Remove the region at BASE from process T. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int removal_remove(struct target *t, uint64_t base, const struct region *region,
                   struct attach_cost *cost, struct err *err);

#endif

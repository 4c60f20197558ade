/* insertion.h: map the recorder into a process and start it. */
#ifndef ATTACH_INSERTION_H
#define ATTACH_INSERTION_H

#include "attach/plan.h"

/* Map the region of P and start the recorder in a borrowed thread. Returns 0; HEAPTAP_NOT_FOUND if
 * the process has used the region's place meanwhile; or HEAPTAP_BAD_INPUT with ERR set. */
int insertion_start(const struct plan *p, const struct attach_how *how, struct attach_cost *cost,
                    struct err *err);

#endif

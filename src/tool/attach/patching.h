/* patching.h: write and remove the jumps of an attached recorder while all threads are stopped. */
#ifndef ATTACH_PATCHING_H
#define ATTACH_PATCHING_H

#include "attach/plan.h"
#include "attach/stop.h"

enum { PATCHING_ATTEMPTS_MAX = 50 };

#define PATCHING_PAUSE_NS 1000000

/* Move thread T between a function and its trampoline if it is at a moved instruction. INTO: to the
 * trampoline. Return true if it was moved. */
bool patching_move_thread(struct stopped *t, const struct region *region, bool into);

/* Write the jumps and the changed branches, or all original bytes. The search for objects keeps its
 * jump until patching_restore_finder. Return false on failure. */
bool patching_write(const struct target *t, const struct region *region, bool jumps);

/* Restore the search for objects. Return false on failure. */
bool patching_restore_finder(const struct target *t, const struct region *region);

/* Stop all threads and write the jumps of P. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. Then the
 * region's is_active is 0 if no jump is left. */
int patching_begin(const struct plan *p, struct attach_cost *cost, struct err *err);

#endif

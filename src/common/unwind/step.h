/* step.h: from the registers of a frame to the registers of its caller. */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include "base/base.h"
#include "unwind/object.h"
#include "unwind/registers.h"
#include "unwind/rule.h"

enum unwind_step_result {
    UNWIND_STEPPED,        // R describes the caller now.
    UNWIND_END,            // R was the outermost frame.
    UNWIND_NO_TABLE,       // Nothing covers R's pc; R is unchanged.
    UNWIND_BAD,            // Needs an unknown register or a read out of bounds, or the tables make
                           // no sense. R is unchanged.
};

/* Replace R by its caller's registers. After a signal frame R->exact is true, and rsp may lie on
 * another stack, outside BOUNDS: the next step needs new bounds. A return address that is 0 or that
 * the tables call undefined gives UNWIND_END. */
enum unwind_step_result unwind_step(struct unwind_registers *r, const struct unwind_bounds *bounds);

/* The same when the object that covers unwind_lookup(R) is known already. */
enum unwind_step_result unwind_step_in(struct unwind_registers *r,
                                       const struct unwind_bounds *bounds,
                                       const struct unwind_object *object);

/* The same by RULE, one of the first four kinds, compiled for unwind_lookup(R). Sets rsp, rbp and
 * pc, and whether rbp is known, as unwind_step does; all other registers are unknown afterwards. */
enum unwind_step_result unwind_step_by_rule(struct unwind_registers *r,
                                            const struct unwind_rule *rule,
                                            const struct unwind_bounds *bounds);

#endif

/* step.h: computes the registers of a frame's caller. */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include "base/base.h"
#include "unwind/object.h"
#include "unwind/registers.h"
#include "unwind/rule.h"

enum unwind_step_result {
    UNWIND_STEPPED,        // R describes the caller.
    UNWIND_END,            // R was the outermost frame.
    UNWIND_NO_TABLE,       // Nothing covers R's pc; R is unchanged.
    UNWIND_BAD,            // Needs an unknown register or a read out of bounds, or the tables are
                           // malformed. R is unchanged.
};

/* Replace R by its caller's registers. After a signal frame R->exact is true, and rsp may lie on
 * another stack, outside BOUNDS: the next step needs new bounds. If the return address is 0, or
 * undefined according to the tables, the result is UNWIND_END. */
enum unwind_step_result unwind_step(struct unwind_registers *r, const struct unwind_bounds *bounds);

/* Do the same as unwind_step, with the OBJECT that covers unwind_lookup(R). */
enum unwind_step_result unwind_step_in(struct unwind_registers *r,
                                       const struct unwind_bounds *bounds,
                                       const struct unwind_object *object);

/* Step out by RULE, one of the first four kinds, compiled for unwind_lookup(R). Sets rsp, rbp and
 * pc, and the validity of rbp, as unwind_step does. All other registers become unknown. */
enum unwind_step_result unwind_step_by_rule(struct unwind_registers *r,
                                            const struct unwind_rule *rule,
                                            const struct unwind_bounds *bounds);

#endif

/* rule.h: a rule steps out of a frame and has 8 bytes. x86-64; the equations:
 *
 *     RULE_RSP        cfa = rsp + cfa_offset
 *     RULE_RBP        cfa = rbp + cfa_offset
 *                     both: rbp' = rbp_words ? *(cfa + 8 * rbp_words) : rbp
 *     RULE_RBP_DEREF  cfa = *(rbp + cfa_offset)
 *                     rbp' = *(rbp + 8 * rbp_words), with the old rbp. 0 words is a read as
 *                     well, and the usual case: code that realigns its stack saves all registers
 *                     relative to rbp
 *     all three       return address = *(cfa - 8); rsp' = cfa
 *     RULE_SIGNAL     the kernel's signal frame, which has all registers:
 *                     rsp' = *(rsp + cfa_offset), pc' = *(rsp + cfa_offset + 8), which is exact
 *                     rbp' = *(rsp + 8 * rbp_words) */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include "base/base.h"
#include "unwind/object.h"
#include "unwind/registers.h"

enum unwind_kind {
    RULE_NONE = 0,      // Empty cache entry.
    RULE_RSP,
    RULE_RBP,
    RULE_RBP_DEREF,
    RULE_SIGNAL,
    RULE_FULL,          // Only unwind_step can step out of the frame.
    RULE_END,           // The tables declare the frame the outermost one.
    RULE_NO_TABLE,      // No object or no FDE covers the address (JIT code).
};

struct unwind_rule {
    int32_t cfa_offset;
    int16_t rbp_words;  // Place of the caller's saved rbp in words, as in the equations.
    uint8_t kind;       // enum unwind_kind.
    uint8_t reserved;
};
static_assert(sizeof(struct unwind_rule) == 8, "half of a 16-byte cache entry");

/* Return the rule for stepping out of the frame that executes the instruction at LOOKUP, in OBJECT.
 * LOOKUP is a return address minus one, or an exact interrupted pc. The result is always valid: it
 * is RULE_FULL or RULE_NO_TABLE if no other kind is possible. */
struct unwind_rule unwind_compile(uint64_t lookup, const struct unwind_object *object);

/* --- step.c: computes the registers of a frame's caller. */

enum unwind_step_result {
    UNWIND_STEPPED,        // R describes the caller.
    UNWIND_END,            // R was the outermost frame.
    UNWIND_NO_TABLE,       // No record covers R's pc; R is unchanged.
    UNWIND_BAD,            // The step needs an unknown register or a read out of bounds, or the
                           // tables are malformed. R is unchanged.
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

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
 *                     rbp' = *(rsp + 8 * rbp_words)
 */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include "base/base.h"
#include "unwind/object.h"

enum unwind_kind {
    RULE_NONE = 0,      // Empty cache entry.
    RULE_RSP,
    RULE_RBP,
    RULE_RBP_DEREF,
    RULE_SIGNAL,
    RULE_FULL,          // Only unwind_step can step out.
    RULE_END,           // The tables declare this the outermost frame.
    RULE_NO_TABLE,      // No object or no FDE covers the address (JIT code).
};

struct unwind_rule {
    int32_t cfa_offset;
    int16_t rbp_words;  // Location of the caller's saved rbp, in words; see the equations.
    uint8_t kind;       // enum unwind_kind.
    uint8_t reserved;
};
static_assert(sizeof(struct unwind_rule) == 8, "half of a 16-byte cache entry");

/* Return the rule for stepping out of the frame that executes the instruction at LOOKUP, in OBJECT.
 * LOOKUP is a return address minus one, or an exact interrupted pc. The result is always valid,
 * RULE_FULL or RULE_NO_TABLE if nothing better is possible. */
struct unwind_rule unwind_compile(uint64_t lookup, const struct unwind_object *object);

#endif

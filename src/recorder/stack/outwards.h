/* outwards.h: steps out of a frame by the usual kinds of rules. */
#ifndef STACK_OUTWARDS_H
#define STACK_OUTWARDS_H

#include "account/thread.h"

READS_STACK static inline uint64_t
stack_word(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

/* Return true if ADDRESS is a word of the stack further out than SLOT, and no further than HIGH. */
static inline bool
is_further_out(uint64_t address, uint64_t slot, uint64_t high)
{
    return address - slot - 1 < high - slot && (address & 7) == 0;
}

/* The caller's frame. */
struct outer {
    uint64_t slot, rbp;
    uint64_t rbp_slot; // The word that rbp was restored from, or 0.
};

/* Step from the frame at SLOT with RBP out to *RET by a rule of kind RULE_RSP. Return false if that
 * leaves the stack, which ends at HIGH. */
static inline bool
step_rsp(uint64_t slot, uint64_t rbp, const struct unwind_rule *rule, uint64_t high,
         struct outer *ret)
{
    // The rule leads outwards by whole words, and rbp lies between: see struct rule_entry.
    ret->slot = slot + (uint64_t)(int64_t)rule->cfa_offset;
    ret->rbp = rbp;
    ret->rbp_slot = 0;
    if (unlikely(ret->slot >= high))
        return false;
    if (rule->rbp_words != 0) {
        ret->rbp_slot = ret->slot + 8 + (uint64_t)((int64_t)rule->rbp_words * 8);
        ret->rbp = stack_word(ret->rbp_slot);
    }
    return true;
}

/* Like step_rsp, for kind RULE_RBP. */
static inline bool
step_rbp(uint64_t slot, uint64_t rbp, const struct unwind_rule *rule, uint64_t high,
         struct outer *ret)
{
    ret->slot = rbp + (uint64_t)(int64_t)rule->cfa_offset - 8;
    ret->rbp = rbp;
    ret->rbp_slot = 0;
    if (unlikely(!is_further_out(ret->slot, slot, high - 8)))
        return false;
    if (rule->rbp_words != 0) {
        ret->rbp_slot = ret->slot + 8 + (uint64_t)((int64_t)rule->rbp_words * 8);
        if (unlikely(!is_further_out(ret->rbp_slot, slot, high - 8)))
            return false;
        ret->rbp = stack_word(ret->rbp_slot);
    }
    return true;
}

#endif

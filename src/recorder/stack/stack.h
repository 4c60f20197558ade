/* stack.h: finds the call tree's node for the present stack. See stack.c. Call in an event, from
 * the thread that owns T. */
#ifndef STACK_STACK_H
#define STACK_STACK_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"
#include "stack/outwards.h"

/* Slow path of stack_target, if the leaf and the prediction do not match. The result is valid until
 * the next call. */
struct stack_target *stack_target_miss(struct thread *t, struct arch_caller caller);

/* Return a target for NODE, a stack of FRAMES frames, whose counters are not looked up yet. */
struct stack_target stack_target_of(uint32_t node, uint32_t frames, uint32_t stamp);

READS_STACK static inline bool
check_passes(const struct stack_check *c)
{
    return likely(stack_word(c->address) == c->value);
}

/* Return true if CHECKS [0, COUNT) hold. Compare whole groups, from the innermost out. A partial
 * group at the start is not compared. */
READS_STACK static inline bool
checks_pass(const struct stack_check *checks, uint32_t count)
{
    static_assert(CHECK_GROUP == 4, "the loop");
    for (const struct stack_check *c = checks + count; c >= checks + CHECK_GROUP; c -= CHECK_GROUP)
        if (unlikely(*(const uint64_t *)(uintptr_t)c[-1].address != c[-1].value) ||
            unlikely(*(const uint64_t *)(uintptr_t)c[-2].address != c[-2].value) ||
            unlikely(*(const uint64_t *)(uintptr_t)c[-3].address != c[-3].value) ||
            unlikely(*(const uint64_t *)(uintptr_t)c[-4].address != c[-4].value))
            return false;
    return true;
}

/* Return true if the stack that called the intercepted function from CALLER is the stack in T's
 * memo. Its target is then t->leaf. */
static inline bool
stack_is_leaf(const struct thread *t, struct arch_caller caller)
{
    return likely(caller.slot == t->leaf_slot) &&
           likely(caller.rbp == t->leaf_rbp || !t->leaf_needs_rbp) &&
           likely(checks_pass(t->checks, t->check_count));
}

/* Return true if P's joining frame is still in the memo, unchanged. Then P's checks are on this
 * stack and can be read. */
static inline bool
stack_hangs(const struct thread *t, struct stack_variant *p)
{
    const struct stack_frame *join = &t->memo[p->join];

    if (likely(p->version == t->memo_version))
        return true;
    if (p->join > t->memo_count || join->slot != p->join_slot || join->node != p->join_node ||
        (join->rbp != p->join_rbp && join->needs_rbp))
        return false;
    p->outer_checks = join->check_start;
    p->version = t->memo_version;
    return true;
}

/* Return true if P is the stack that called from CALLER. */
static inline bool
stack_is_variant(const struct thread *t, struct stack_variant *p, struct arch_caller caller)
{
    return likely(p->slot == caller.slot) && likely(caller.rbp == p->rbp || !p->needs_rbp) &&
           likely(stack_hangs(t, p)) && likely(checks_pass(p->checks, p->check_count)) &&
           likely(checks_pass(t->checks, p->outer_checks));
}

/* Return the variant stack of T that contains TARGET, or NULL if TARGET does not belong to a
 * variant stack. */
static inline const struct stack_variant *
stack_variant_of(const struct thread *t, const struct stack_target *target)
{
    uintptr_t offset = (uintptr_t)target - (uintptr_t)t->variants;

    return offset < sizeof t->variants ? &t->variants[offset / sizeof *t->variants] : NULL;
}

/* Return T's history after variant stack I. If the result equals the present history, I has filled
 * the history: it has occurred many times in a row. */
static inline uint32_t
stack_history(const struct thread *t, uint32_t i)
{
    static_assert(STACK_PREDICTIONS > STACK_VARIANTS + 1, "no I keeps a history of 0 as it is");
    return ((t->history << 2) ^ (i + 1)) % STACK_PREDICTIONS;
}

/* Hash the innermost frame of the stack that called from CALLER. */
static inline uint32_t
stack_innermost(struct arch_caller caller)
{
    static_assert(STACK_PREDICTIONS == 1 << (64 - 51), "the hash");
    return (uint32_t)(((caller.slot ^ stack_word(caller.slot) << 13) *
                       UINT64_C(0x9e3779b97f4a7c15)) >> 51);
}

/* Return the index in T's `predicted` for the stack that called from CALLER. The index combines the
 * history with the innermost frame, which can be read at once and improves the prediction. */
static inline uint32_t
stack_context(const struct thread *t, struct arch_caller caller)
{
    return stack_innermost(caller) ^ t->history;
}

/* Return the target of the predicted stack if this is the stack that called from CALLER; else NULL.
 * Requires that CALLER's slot is readable. */
static inline struct stack_target *
stack_predicted(struct thread *t, struct arch_caller caller)
{
    uint32_t i = t->predicted[stack_context(t, caller)];
    struct stack_variant *p = &t->variants[i];
    uint32_t history = stack_history(t, i);

    KEEP(p);
    if (unlikely(!stack_is_variant(t, p, caller)) || unlikely(history == t->history))
        return NULL;
    t->history = history;
    t->frames_reused += p->target.frames;
    return &p->target;
}

/* Return true if CALLER's slot is on the known part of T's own stack. On other stacks the slot may
 * not be readable. */
static inline bool
stack_is_own(const struct thread *t, struct arch_caller caller)
{
    return likely(caller.slot - t->stack_low < t->stack_high - t->stack_low);
}

/* Return the target of the stack that called from CALLER, which counts its blocks. The result is
 * valid until the next call. */
static inline struct stack_target *
stack_target(struct thread *t, struct arch_caller caller)
{
    struct stack_target *target = NULL;

    if (stack_is_leaf(t, caller)) {
        t->frames_reused += t->leaf.frames;
        return &t->leaf;
    }
    if (stack_is_own(t, caller))
        target = stack_predicted(t, caller);
    return likely(target != NULL) ? target : stack_target_miss(t, caller);
}

#endif

/* stack.h: the present stack as a node of the call tree. See stack.c. Called by the thread that
 * owns T, in an event. */
#ifndef STACK_STACK_H
#define STACK_STACK_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"


/* Where that stack's blocks are counted, if it is neither the one that T remembers nor foreseen.
 * Valid until the next call. */
struct stack_target *stack_target_elsewhere(struct thread *t, struct arch_caller caller);

/* Forget the stack that T remembers. */
void stack_forget(struct thread *t);

/* Forget that stack and all passing ones. */
void stack_forget_all(struct thread *t);

READS_STACK static inline uint64_t
stack_word(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

READS_STACK static inline bool
stack_check_holds(const struct stack_check *c)
{
    return likely(stack_word(c->address) == c->value);
}

/* Do the innermost of CHECKS [0, COUNT) hold, in whole groups? */
READS_STACK static inline bool
stack_holds(const struct stack_check *checks, uint32_t count)
{
    static_assert(CHECK_GROUP == 4, "the loop");
    for (const struct stack_check *c = checks + count; c >= checks + CHECK_GROUP; c -= CHECK_GROUP)
        if (!stack_check_holds(c - 1) || !stack_check_holds(c - 2) || !stack_check_holds(c - 3) ||
            !stack_check_holds(c - 4))
            return false;
    return true;
}

/* Is the stack that called the intercepted function from CALLER the one that T remembers? Its
 * target is t->leaf. */
static inline bool
stack_is_leaf(const struct thread *t, struct arch_caller caller)
{
    return likely(caller.slot == t->leaf_slot) &&
           likely(caller.rbp == t->leaf_rbp || !t->leaf_needs_rbp) &&
           likely(stack_holds(t->checks, t->check_count));
}

/* Is the frame that P hangs on still remembered as it was? That shows that P's checks are of this
 * stack and can be read. */
static inline bool
stack_hangs(const struct thread *t, struct stack_passing *p)
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

/* Is P the stack that called from CALLER? */
static inline bool
stack_is_passing(const struct thread *t, struct stack_passing *p, struct arch_caller caller)
{
    return likely(p->slot == caller.slot) && likely(caller.rbp == p->rbp || !p->needs_rbp) &&
           likely(stack_hangs(t, p)) && likely(stack_holds(p->checks, p->check_count)) &&
           likely(stack_holds(t->checks, p->outer_checks));
}

/* The passing stack of T that TARGET is of; NULL if it is another target. */
static inline const struct stack_passing *
stack_passing_of(const struct thread *t, const struct stack_target *target)
{
    uintptr_t offset = (uintptr_t)target - (uintptr_t)t->passings;

    return offset < sizeof t->passings ? &t->passings[offset / sizeof *t->passings] : NULL;
}

/* The history of T when passing stack I comes next. It stays the same when I alone has come as many
 * times as the history goes back. */
static inline uint32_t
stack_history(const struct thread *t, uint32_t i)
{
    static_assert(FORESEEN > PASSINGS + 1, "no I keeps a history of 0 as it is");
    return ((t->history << 2) ^ (i + 1)) % FORESEEN;
}

/* A hash of the innermost frame of the stack that called from CALLER. */
static inline uint32_t
stack_innermost(struct arch_caller caller)
{
    static_assert(FORESEEN == 1 << (64 - 51), "the hash");
    return (uint32_t)(((caller.slot ^ stack_word(caller.slot) << 13) *
                       UINT64_C(0x9e3779b97f4a7c15)) >> 51);
}

/* Which of T's `foreseen` is about the stack that called from CALLER. What came before alone says
 * less than together with the innermost frame, which is at hand. */
static inline uint32_t
stack_context(const struct thread *t, struct arch_caller caller)
{
    return stack_innermost(caller) ^ t->history;
}

/* Where blocks of the stack that called from CALLER, whose slot can be read, are counted if it is
 * the one that is likely to come; else NULL. */
static inline struct stack_target *
stack_foreseen(struct thread *t, struct arch_caller caller)
{
    uint32_t i = t->foreseen[stack_context(t, caller)];
    struct stack_passing *p = &t->passings[i];
    uint32_t history = stack_history(t, i);

    KEEP(p);
    if (unlikely(!stack_is_passing(t, p, caller)) || unlikely(history == t->history))
        return NULL;
    t->history = history;
    t->frames_reused += p->target.frames;
    return &p->target;
}

/* Is CALLER's slot known to be one of T's own stack? Out of it, it may be no address. */
static inline bool
stack_is_own(const struct thread *t, struct arch_caller caller)
{
    return likely(caller.slot - t->stack_low < t->stack_high - t->stack_low);
}

/* Where blocks of the stack that called from CALLER are counted. Valid until the next call. */
static inline struct stack_target *
stack_target(struct thread *t, struct arch_caller caller)
{
    struct stack_target *target = NULL;

    if (stack_is_leaf(t, caller)) {
        t->frames_reused += t->leaf.frames;
        return &t->leaf;
    }
    if (stack_is_own(t, caller))
        target = stack_foreseen(t, caller);
    return likely(target != NULL) ? target : stack_target_elsewhere(t, caller);
}

#endif

/* stack_state.h: the part of the state for stacks. See platform/state.h. */
#ifndef STACK_STACK_STATE_H
#define STACK_STACK_STATE_H

#include "platform/state.h"

struct stack_state {
    uint32_t depth_max;        // Innermost frames kept of a stack.
    struct rule_bucket *rules; // rules.c: the second level.
    uint64_t rules_added;      // Atomic.

    /* modules.c */
    struct module_range *modules; // By module id.
    uint32_t module_count;        // Atomic.
    uint32_t modules_busy;        // Atomic.

    /* bounds.c */
    uint32_t block_off;   // Atomic: offset of glibc's record of a stack. 0 = unknown.
    uint64_t stack_top;   // Upper end of the main thread's stack.
    uint64_t stack_limit; // Lower end to which it may grow.
};
static_assert(sizeof(struct stack_state) <= STATE_STACK_BYTES, "platform/state.h reserves it");

/* Requires `state` not to be NULL. */
static inline struct stack_state *
stack_state(void)
{
    return (struct stack_state *)(void *)state->stack;
}

#endif

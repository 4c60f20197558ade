/* stack_state.h: the part of platform/state.h for stacks. */
#ifndef STACK_STACK_STATE_H
#define STACK_STACK_STATE_H

#include "platform/state.h"

struct stack_state {
    uint32_t depth_max;        // Number of innermost frames to record per stack.
    uint32_t timed;            // Not 0: stack_target_miss adds its cost to thread->whole_cycles.
    struct rule_bucket *rules; // Second level of rules.c.
    uint64_t rules_added;      // Atomic: number of rules in the second level.

    /* modules.c */
    struct module_range *modules; // Indexed by module id.
    uint32_t module_count;        // Atomic: number of modules.
    uint32_t modules_busy;        // Atomic: 1 while a thread is recording a module.

    /* short.c, wrappers.c */
    uint32_t short_root;           // Atomic: node above short stacks; 0 = none yet.
    struct wrappers **wrappers;    // Indexed by module id: atomic, NULL = not read yet.

    /* bounds.c */
    uint32_t block_off;   // Atomic: offset of glibc's record of a stack's bounds; 0 = unknown.
    uint64_t stack_top;   // Upper end of the main thread's stack.
    uint64_t stack_limit; // Lower end of the main thread's stack at its maximum size.
    uint64_t stack_start; // Where the main thread's first frame begins; 0 = unknown.
    uint64_t tls_bytes, tls_align; // The program's thread-local variables.
};
static_assert(sizeof(struct stack_state) <= STATE_STACK_BYTES, "platform/state.h reserves it");

/* Return this part of the state. Requires that `state` is not NULL. */
static inline struct stack_state *
stack_state(void)
{
    return (struct stack_state *)(void *)state->stack;
}

#endif

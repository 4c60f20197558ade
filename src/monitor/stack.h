/* stack.h: the present stack as a node of the call tree. See stack.c. */
#ifndef MONITOR_STACK_H
#define MONITOR_STACK_H

#include "monitor/arch_x86_64.h"
#include "monitor/thread.h"

/* T begins to serve the calling thread: find out where its stack ends. */
void stack_thread_begins(struct thread *t);

/* Find the main thread's stack; once per process. */
void stack_process_begins(void);

/* The node of the stack that called the intercepted function from CALLER. */
uint32_t stack_node(struct thread *t, struct arch_caller caller);

/* The sites of that node: struct disk_node's. */
uint32_t *stack_sites_elsewhere(struct thread *t, struct arch_caller caller);

/* T remembers no stack. */
static inline void
stack_forget(struct thread *t)
{
    t->memo_count = t->check_count = 0;
    t->memo[0].slot = UINT64_MAX;
    t->leaf_slot = 0;
}

READS_STACK static inline uint64_t
stack_word(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

/* Does check C fail? Not 0 if so. */
READS_STACK static inline uint64_t
stack_differs(const struct stack_check *c)
{
    return stack_word(c->address) ^ c->value;
}

/* 0 if checks [0, COUNT) all hold, else 1 + the index of the innermost one that fails. */
READS_STACK static inline uint32_t
stack_failing_check(const struct stack_check *checks, uint32_t count)
{
    const struct stack_check *c = checks + count;

    // One branch for four: the loads of several checks run side by side.
    for (; c >= checks + 4; c -= 4)
        if (unlikely(stack_differs(c - 1) | stack_differs(c - 2) | stack_differs(c - 3) |
                     stack_differs(c - 4)))
            break;
    for (; c > checks; c--)
        if (unlikely(stack_differs(c - 1)))
            break;
    return (uint32_t)(c - checks);
}

/* The sites of the stack that called the intercepted function from CALLER, if it is the one that T
 * remembers; else NULL: take stack_sites_elsewhere. */
static inline uint32_t *
stack_sites(const struct thread *t, struct arch_caller caller)
{
    return likely(caller.slot == t->leaf_slot) &&
                   likely(caller.rbp == t->leaf_rbp || !t->leaf_needs_rbp) &&
                   likely(stack_failing_check(t->checks, t->check_count) == 0)
               ? t->leaf_sites
               : NULL;
}

#endif

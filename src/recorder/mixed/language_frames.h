/* language_frames.h: adds the frames of the program's own language to stacks. */
#ifndef MIXED_LANGUAGE_FRAMES_H
#define MIXED_LANGUAGE_FRAMES_H

#include "account/label.h"
#include "base/atomics.h"
#include "mixed/language_adapters.h"
#include "stack/stack.h"

static inline bool
language_is_there(void)
{
    return load_acquire(&language_count) != 0;
}

/* Return the node of the present stack with the frames of all languages, without labels. TARGET is
 * the latest result of stack_target. Call in an event of T. */
uint32_t language_merge(struct thread *t, const struct stack_target *target);

/* Slow path of language_sites, for a thread with tls.needs_slow_path set. */
uint32_t *language_sites_apart(struct thread *t, const struct stack_target *target);

/* Until language_moved, declare that the calling thread's events belong to a move of block OLD from
 * FROM, which is no longer readable, to TO. A runtime may still have the old address. */
static inline void
language_moves(struct ledger_entry old, const void *from, const void *to)
{
    if (likely(tls.needs_slow_path == 0) || from == to)
        return;
    tls.moved_from = (const void *)((uintptr_t)from & ~LEDGER_HOOKED);
    tls.moved_to = (const void *)((uintptr_t)to & ~LEDGER_HOOKED);
    tls.moved_bytes = old.site == 0 || ledger_is_backing(old) ? SIZE_MAX
                      : old.size_bytes > 0                    ? old.size_bytes
                                                              : 1;
}

static inline void
language_moved(void)
{
    if (unlikely(tls.needs_slow_path != 0))
        tls.moved_from = NULL;
}

/* Return the sites where the calling thread counts blocks of TARGET's stack, with the frames of
 * languages and the thread's labels. TARGET is the latest result of stack_target. */
static inline uint32_t *
language_sites(struct thread *t, struct stack_target *target)
{
    return likely(tls.needs_slow_path == 0) ? target->sites : language_sites_apart(t, target);
}

/* Return the node of the stack that called the intercepted function from CALLER, with the frames of
 * languages, without labels. */
static inline uint32_t
language_node(struct thread *t, struct arch_caller caller)
{
    const struct stack_target *target = stack_target(t, caller);

    return likely(tls.needs_slow_path == 0) ? nodes_of(target->sites) : language_merge(t, target);
}

#endif

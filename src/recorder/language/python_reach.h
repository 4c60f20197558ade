/* python_reach.h: which frames of the interpreter can be read. */
#ifndef LANGUAGE_PYTHON_REACH_H
#define LANGUAGE_PYTHON_REACH_H

#include "base/base.h"
#include "language/python_layout.h"

/* The proofs for one answer: frames that begin in [memory, memory + memory_room), or on the C stack
 * in [stack, stack + stack_room), can be read as a whole. */
struct python_reach {
    uintptr_t memory, memory_room;
    uintptr_t stack, stack_room;
    bool asked; // Only the kernel has shown that the latest one can be read.
};

/* The types of the objects that have frames inside; NULL = there is none of that kind. */
struct python_owners {
    const void *generator, *coroutine, *async_generator, *frame;
};

void python_reach_begin(const struct python_layout *layout, const struct python_owners *owners);

/* Drop all proofs, except for this thread's known part of the C stack. */
void python_reach_start(struct python_reach *r);

/* Whether a frame's bytes at P can be read; says so of more of them to R. */
bool python_reach_prove(struct python_reach *r, const void *p);

/* The block at P, of the domain of objects, which is not of an arena, is about to be freed. */
void python_reach_freed(const void *p);

static inline bool
python_can_reach(struct python_reach *r, const void *p)
{
    uintptr_t at = (uintptr_t)p;

    return likely((at & 7) == 0) &&
           (likely(at - r->memory < r->memory_room) || at - r->stack < r->stack_room ||
            (at != 0 && python_reach_prove(r, p)));
}

#endif

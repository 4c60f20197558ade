/* python_reach.h: checks that frames of the interpreter are readable. */
#ifndef LANGUAGE_PYTHON_REACH_H
#define LANGUAGE_PYTHON_REACH_H

#include "base/base.h"
#include "language/python_layout.h"

/* Memory proved readable during one walk: a frame is readable as a whole if it begins in [memory,
 * memory + memory_room), or on the C stack in [stack, stack + stack_room). */
struct python_reach {
    uintptr_t memory, memory_room;
    uintptr_t stack, stack_room;
    bool asked; // The latest frame was proved readable by a system call alone.
};

/* Types of objects that contain frames; NULL = the interpreter has no such type. */
struct python_owners {
    const void *generator, *coroutine, *async_generator, *frame;
};

void python_reach_begin(const struct python_layout *layout, const struct python_owners *owners);

/* Drop all proofs except this thread's known part of the C stack. */
void python_reach_start(struct python_reach *r);

/* Return true if the bytes of a frame at P are readable. Extend R by the proved memory. */
bool python_reach_prove(struct python_reach *r, const void *p);

/* Record that a block of malloc at P, allocated in the domain of objects, is about to be freed. */
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

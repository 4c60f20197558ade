/* bounds.h: finds where stacks are, and which of their words a walk may read; see bounds.c. Call in
 * an event, from the thread that owns T. */
#ifndef STACK_BOUNDS_H
#define STACK_BOUNDS_H

#include "account/thread.h"

enum { BOUNDS_PAGE_BYTES = 4096 };

/* After a guess, a frame on a stack other than the thread's own may reach this far beyond the
 * proved pages. */
enum { BOUNDS_DOUBTFUL_BYTES = 32 * BOUNDS_PAGE_BYTES };

/* Find the main thread's stack. Call once per process, before any other function here. */
void bounds_process_begins(void);

/* Find the bounds of the calling thread's stack and store them in its new struct T. */
void bounds_thread_begins(struct thread *t);

/* Return true if SLOT is on T's own stack although it is outside the known part. In this case,
 * extend the known part. */
bool bounds_own_stack(struct thread *t, uint64_t slot);

/* Return true if ADDRESS is on T's own stack, between HERE and the end of the stack. HERE is an
 * address in the running function's frame. Memory between them is mapped. */
static inline bool
bounds_is_live(const struct thread *t, uint64_t here, uint64_t address)
{
    return here >= t->stack_low && address >= here && address < t->stack_high;
}

/* Return true if little more than the code that starts a process or thread fits between the return
 * address at SLOT and the start of T's stack. A stack that ends there is whole. */
bool bounds_is_outermost(const struct thread *t, uint64_t slot);

/* The memory that one walk may read. */
struct bounds {
    struct thread *t;
    uint64_t own_low; // T's own stack is mapped from here to its end. Equal to the end if the stack
                      // is unknown.
    struct unwind_reach reach;
    uint32_t pages_left; // Number of pages that this walk may still prove.
};

/* Start a walk at SP, the current rsp. The current function belongs to the recorder, and the return
 * address of the recorder's caller is at SLOT. */
void bounds_begin(struct bounds *b, struct thread *t, uint64_t sp, uint64_t slot);

/* Set *RET to the words that may be read when rsp is SP. Return false if no page at SP is proved to
 * be readable. EXACT: SP belongs to an interrupted function. UNCERTAIN: SP comes from a guess, so
 * allow fewer pages. Makes a system call for each page that is not yet proved. */
bool bounds_at(struct bounds *b, uint64_t sp, bool exact, bool uncertain,
               struct unwind_bounds *ret);

/* Fast path of bounds_at for the common frame on the thread's own stack. If this returns false,
 * call bounds_at. */
static inline bool
bounds_of_own(const struct bounds *b, uint64_t sp, bool exact, struct unwind_bounds *ret)
{
    *ret = (struct unwind_bounds){sp, b->t->stack_high, NULL};
    return likely(!exact) && likely(sp >= b->own_low && sp < b->t->stack_high);
}

#endif

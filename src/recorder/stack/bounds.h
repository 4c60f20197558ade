/* bounds.h: finds where stacks are, and which of their words may be read; see bounds.c. Call in an
 * event, from the thread that owns T. */
#ifndef STACK_BOUNDS_H
#define STACK_BOUNDS_H

#include "account/thread.h"

enum { BOUNDS_PAGE_BYTES = 4096 };

/* After a guess, a frame on a stack other than the thread's own may reach this far beyond the
 * proved pages. */
enum { BOUNDS_DOUBTFUL_BYTES = 32 * BOUNDS_PAGE_BYTES };

/* Find the main thread's stack. Call once per process, before any other function here. */
void bounds_process_begins(void);

/* Find the bounds of the calling thread's stack, when the thread gets the struct T. */
void bounds_thread_begins(struct thread *t);

/* Return true if SLOT, which is outside the known part of T's own stack, is nevertheless on that
 * stack. In this case, extend the known part. */
bool bounds_own_stack(struct thread *t, uint64_t slot);

/* Return true if ADDRESS is on T's own stack, between HERE, an address in the running function's
 * frame, and the end of the stack. Such memory is mapped. */
static inline bool
bounds_is_live(const struct thread *t, uint64_t here, uint64_t address)
{
    return here >= t->stack_low && address >= here && address < t->stack_high;
}

/* The memory that one walk may read. */
struct bounds {
    struct thread *t;
    uint64_t own_low; // T's own stack is mapped from here to its end; equal to the end if unknown.
    struct unwind_reach reach;
    uint32_t pages_left; // Number of pages that this walk may still prove.
};

/* Start a walk at SP, the present rsp, in the recorder, whose caller has its return address at
 * SLOT. */
void bounds_begin(struct bounds *b, struct thread *t, uint64_t sp, uint64_t slot);

/* Set *RET to the words that may be read when rsp is SP. Return false if no page there is proved.
 * EXACT: SP belongs to an interrupted function. UNCERTAIN: SP comes from a guess, so allow less.
 * Makes a system call for each page that is not yet proved. */
bool bounds_at(struct bounds *b, uint64_t sp, bool exact, bool uncertain,
               struct unwind_bounds *ret);

/* Fast path of bounds_at for the common frame on the thread's own stack. If it returns false, call
 * bounds_at. */
static inline bool
bounds_of_own(const struct bounds *b, uint64_t sp, bool exact, struct unwind_bounds *ret)
{
    *ret = (struct unwind_bounds){sp, b->t->stack_high, NULL};
    return likely(!exact) && likely(sp >= b->own_low && sp < b->t->stack_high);
}

#endif

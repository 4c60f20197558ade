/* bounds.h: where stacks lie, and where words of them may be read; see bounds.c. Called by the
 * thread that owns T, in an event. */
#ifndef STACK_BOUNDS_H
#define STACK_BOUNDS_H

#include "account/thread.h"

/* Find the main thread's stack; once per process, before any thread is asked for. */
void bounds_process_begins(void);

/* T begins to serve the calling thread: find out where its stack ends. */
void bounds_thread_begins(struct thread *t);

/* SLOT is outside what T knows of its own stack. True if it lies on it all the same (T knows more
 * then). */
bool bounds_own_stack(struct thread *t, uint64_t slot);

/* Is ADDRESS on T's own stack, between HERE, an address of the running function, and its end? Such
 * memory is mapped. */
static inline bool
bounds_is_live(const struct thread *t, uint64_t here, uint64_t address)
{
    return here >= t->stack_low && address >= here && address < t->stack_high;
}

/* The memory that one walk may read. */
struct bounds {
    struct thread *t;
    uint64_t own_low; // From here on T's own stack is mapped; its end if that is not known.
    struct unwind_reach reach;
    uint32_t pages_left; // To be proved before the walk ends.
};

/* Start a walk at SP, the present rsp, out of the recorder, which was called from SLOT. */
void bounds_begin(struct bounds *b, struct thread *t, uint64_t sp, uint64_t slot);

/* Where words may be read when rsp is at SP; false if no page there is proved. EXACT: SP is that of
 * an interrupted function. DOUBTFUL: SP comes from a guess, so read less far. Makes a system call
 * for a page that is not proved yet. */
bool bounds_at(struct bounds *b, uint64_t sp, bool exact, bool doubtful,
               struct unwind_bounds *ret);

/* The same for the usual frame of the thread's own stack; false means ask bounds_at. */
static inline bool
bounds_of_own(const struct bounds *b, uint64_t sp, bool exact, struct unwind_bounds *ret)
{
    *ret = (struct unwind_bounds){sp, b->t->stack_high, NULL};
    return likely(!exact) && likely(sp >= b->own_low && sp < b->t->stack_high);
}

#endif

/* inner.c: records inner events, which occur inside a function of the real allocator.
 *
 * A function of the real allocator, such as operator new, may call back into the recorder. Its
 * frees and reallocations are recorded like any others. Its allocations are held back until the
 * function returns, because one of these blocks may be the function's result (deferred.c). A free
 * of an unknown block is ignored: such a block is internal to the function, for example the start
 * of a block with a header.
 *
 * The event of the outer call continues afterwards. So each inner event steps out of the outer
 * event, and back into it at the end (reentry.c). */
#include "event/inner.h"

#include "event/deferred.h"
#include "event/event.h"
#include "event/reentry.h"
#include "mixed/language_frames.h"

static void
defer_block(void *p, size_t size_bytes, bool odd, struct arch_caller caller)
{
    struct thread *t = reentry_enter_thread_cold(caller.slot);

    if (t != NULL)
        deferred_add(t, p, size_bytes, odd, caller);
    reentry_leave_cold();
}

/* Hold the block back. Draw no sample: the gate decides about the function's result. */
COLD void
inner_alloc(void *p, size_t size_bytes, bool odd, enum gate gate, struct arch_caller caller)
{
    struct reentry_nest n = reentry_here();

    if (p == NULL)
        return; // If this failure makes the outer function fail, the outer failure is counted.
    reentry_step_out(&n);
    if (tls.change == 0 && gate == GATE_EXACT)
        gate = gate_first(size_bytes, caller.slot);
    if (gate == GATE_EXACT)
        defer_block(p, size_bytes, odd, caller);
    reentry_step_back(&n);
}

/* If the block at P is held back, count it in a separate event. */
static void
count_before_free(const void *p, uint64_t slot)
{
    struct thread *t = reentry_enter_thread_cold(slot);

    if (t != NULL && t->inner_count != 0)
        deferred_count_before_free(t, p);
    reentry_leave_cold();
}

COLD void
inner_free(void *p, struct arch_caller caller)
{
    struct reentry_nest n = reentry_here();

    if (n.first)
        return; // Before its first event the thread has no held blocks.
    reentry_step_out(&n);
    count_before_free(p, caller.slot);
    event_free_known(p, caller);
    reentry_step_back(&n);
}

struct ledger_entry
inner_realloc_begin(void *p, struct arch_caller caller)
{
    struct reentry_nest n = reentry_here();
    struct ledger_entry old = {0};

    if (n.first || p == NULL)
        return old;
    reentry_step_out(&n);
    count_before_free(p, caller.slot);
    old = event_realloc_begin_known(p, caller);
    reentry_step_back(&n);
    return old;
}

void
inner_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, enum gate gate,
                  struct arch_caller caller)
{
    struct reentry_nest n = reentry_here();

    if (old.site == 0) {
        language_moves(old, p, result);
        inner_alloc(result, size_bytes, false, gate, caller);
        language_moved();
        return;
    }
    reentry_step_out(&n);
    event_realloc_end(p, old, result, size_bytes, result != NULL || size_bytes == 0, caller);
    reentry_step_back(&n);
}
